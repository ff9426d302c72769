internal import CGPGME
internal import Encoding
package import KeyringModel

/// The public key of one person as a file, read by GnuPG and reduced to its minimal form.
package struct KeyFile: Sendable {
  /// The reasons why a file is not the key of one person.
  package enum Problem: Error, Sendable, Equatable {
    /// GnuPG finds no key in it.
    case empty
    /// GnuPG on this machine cannot read the key in it; the first version of GnuPG that can, or nil if it is not known.
    case unreadable(needs: String?)
    /// It has the key with this fingerprint without any user id. GnuPG imports such a file only for a key that it has.
    case nameless(Fingerprint)
    /// It has more than one key. The value has their fingerprints.
    case several([Fingerprint])
    /// It has a secret key, which must not be shared.
    case secret
    /// It has another key than the requested one.
    case other(Fingerprint)
    /// GnuPG could not be used.
    case engine(EngineError)
  }

  /// The properties of the key.
  package let key: PublicKey
  /// The armored key without the signatures of others.
  package let bytes: [UInt8]

  /// The maximum size of a key file, in bytes. GnuPG needs time that grows with the square of the size: 50 s for a
  /// file of a megabyte with many user ids (threat T46).
  package static let sizeLimit = 256 << 10

  /// Reads files of one key, in a temporary GnuPG home.
  ///
  /// GnuPG merges several files: newer self-signatures win, and a revocation stays. So an older file beside a newer
  /// one does not revert anything. A file without a user id can be read after one with a user id of the same key.
  ///
  /// - Parameters:
  ///   - files: Armored or binary files, each with the same single key.
  ///   - fingerprint: The expected key, if known.
  ///   - locations: The search path for programs, and the folder for the home.
  /// - Throws: The reason why it is not the key of one person; `engine` with `unusableKey` and `tooLarge`, `tooManyParts`,
  ///   `tooManySignatures` or `tooManyBits` if a store must not have it.
  package init(
    reading files: [[UInt8]], expecting fingerprint: Fingerprint? = nil, locations: EngineLocations
  ) throws(Problem) {
    let people = KeyPackets.certificates(in: files).keys
    guard people.count <= 1 else { throw .several(people.sorted()) }
    guard let found = try Self.read(files, locations: locations, export: { $0 }).exported.first else {
      throw Self.emptiness(of: files)
    }
    if let fingerprint, found.key.fingerprint != fingerprint { throw .other(found.key.fingerprint) }
    try found.requireSize()
    self = found
  }

  /// Reads the keys that a file changes or adds, merged onto known keys.
  ///
  /// - Parameters:
  ///   - file: An armored or binary file with any number of keys.
  ///   - known: The key files of known people, by fingerprint. GnuPG gets only those of which the file has the key.
  ///   - locations: The search path for programs, and the folder for the home.
  /// - Returns: The known keys to which the file adds something, and the fingerprints of the other keys in it, sorted. If
  ///   it has only known keys and adds nothing, both are empty.
  ///   The caller checks their sizes.
  /// - Throws: `empty`, `unreadable` or `nameless` if GnuPG finds no key in it; `secret`; `engine`.
  package static func merging(
    _ file: [UInt8], onto known: [Fingerprint: [UInt8]], locations: EngineLocations
  ) throws(Problem) -> (changed: [KeyFile], others: [Fingerprint]) {
    guard !hasSecretKey(file) else { throw .secret }
    let people = Set(KeyPackets.certificates(in: [file]).keys)
    let others = people.filter { known[$0] == nil }.sorted()
    let members = people.subtracting(others)
    let problem = emptiness(of: [file])
    if members.isEmpty {
      guard problem == .empty, !others.isEmpty else { throw problem }
      return ([], others)
    }
    let files = members.sorted().compactMap { known[$0] }
    let before = try read(files, of: members, locations: locations) { _ in [] }.keys
    let changed = try read(files + [file], of: members, locations: locations) { after in
      after.filter { new in !before.contains { $0.isSame(as: new) } }
    }.exported
    // A file without a user id adds nothing to a known key that has all of it.
    if changed.isEmpty, others.isEmpty, case .unreadable = problem,
      try read([file], of: members, locations: locations, export: { _ in [] }).keys.isEmpty
    {
      throw problem
    }
    return (changed, others)
  }

  /// Imports files into a new home, and exports some of the keys that it has then.
  ///
  /// - Parameters:
  ///   - files: The files.
  ///   - people: The primary fingerprints of the keys that are imported; nil for all.
  ///   - locations: The search path for programs, and the folder for the home.
  ///   - selection: Returns the keys to export.
  /// - Returns: All keys, and the exported ones.
  private static func read(
    _ files: [[UInt8]], of people: Set<Fingerprint>? = nil, locations: EngineLocations,
    export selection: ([PublicKey]) -> [PublicKey]
  ) throws(Problem) -> (keys: [PublicKey], exported: [KeyFile]) {
    guard !files.contains(where: hasSecretKey) else { throw .secret }
    if let foreign = ForeignSubkey(ofPrimaryKeyIn: KeyPackets.certificates(in: files)) {
      throw .engine(.foreignSubkey(foreign))
    }
    do throws(EngineError) {
      var contents: [KeyContent] = []
      for file in files { contents.append(try KeyContent(file, of: people)) }
      if let first = RevocationPackets.withoutSoftRevocations(in: contents) { contents.insert(first, at: 0) }
      // Without an agent a secret key that the check above has missed cannot be stored anywhere. A minimal import keeps
      // subkeys that have expired or are revoked; a minimal export would drop the former.
      let home = try TemporaryHome(
        withoutKeyIn: locations.runtimeBase, name: "key", searchPath: locations.searchPath,
        options: ["import-options import-minimal"])
      defer { home.remove() }
      let user = UserKeyring(
        locations: EngineLocations(
          userHome: home.home, runtimeBase: home.runtimeFolder, searchPath: locations.searchPath))
      for content in contents { try user.importKeys(content) }
      let keys = try user.publicKeys()
      var exported: [KeyFile] = []
      for key in selection(keys) {
        let bytes = try user.export(key.fingerprint)
        // libgpgme does not notice that gpg was killed while it was listing the keys.
        guard Set(key.subkeys.map(\.fingerprint)).isSuperset(of: KeyPackets.fingerprints(in: bytes)) else {
          throw .incomplete(detail: "it did not list the whole key")
        }
        exported.append(KeyFile(key: key, bytes: bytes))
      }
      return (keys, exported)
    } catch {
      throw .engine(error)
    }
  }

  /// Returns the reason why GnuPG finds no key in files.
  private static func emptiness(of files: [[UInt8]]) -> Problem {
    for case .unreadable(let needed) in files.map(KeyPackets.problem) { return .unreadable(needs: needed) }
    return files.lazy.compactMap(KeyPackets.keyWithoutUserID).first.map { .nameless($0) } ?? .empty
  }

  /// Checks that the file is not too large for a store.
  ///
  /// - Throws: `engine` with `unusableKey` and `tooLarge`, `tooManyParts`, `tooManySignatures` or `tooManyBits`.
  package func requireSize() throws(Problem) {
    if let (person, problem) = KeyPackets.excess(in: bytes) { throw .engine(.unusableKey(person, problem)) }
    guard bytes.count <= Self.sizeLimit else {
      throw .engine(.unusableKey(key.fingerprint, .tooLarge(limit: Self.sizeLimit)))
    }
  }

  /// Creates a key file from a known key.
  package init(key: PublicKey, bytes: [UInt8]) {
    self.key = key
    self.bytes = bytes
  }

  /// Returns the type of the first packet; nil if the bytes are not packets.
  private static func firstTag(of bytes: [UInt8]) -> UInt8? {
    guard let first = bytes.first, first & 0x80 != 0 else { return nil }
    return first & 0xC0 == 0xC0 ? first & 63 : first >> 2 & 15
  }

  /// Returns true if a file has a secret key: armored anywhere in it, or as its first packet (RFC 9580, 5.5.1.3).
  package static func hasSecretKey(_ bytes: [UInt8]) -> Bool {
    let tag = firstTag(of: bytes)
    if tag == 5 || tag == 7 { return true }
    return ByteSearch.contains(bytes, Array("BEGIN PGP PRIVATE KEY BLOCK".utf8))
  }
}

extension PublicKey {
  /// Returns true if another listing of the key is equal, whether or not it has a secret key.
  ///
  /// - Parameter other: The other listing.
  package func isSame(as other: PublicKey) -> Bool {
    fingerprint == other.fingerprint && userIDs == other.userIDs && subkeys == other.subkeys
  }
}
