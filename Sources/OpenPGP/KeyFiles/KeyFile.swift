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
  /// - Throws: The reason why it is not the key of one person.
  package init(
    reading files: [[UInt8]], expecting fingerprint: Fingerprint? = nil, locations: EngineLocations
  ) throws(Problem) {
    let found = try Self.read(files, locations: locations)
    guard let first = found.first else { throw Self.emptiness(of: files) }
    guard found.count == 1 else { throw .several(found.map(\.key.fingerprint).sorted()) }
    if let fingerprint, first.key.fingerprint != fingerprint { throw .other(first.key.fingerprint) }
    try first.requireSize()
    self = first
  }

  /// Reads the keys that a file changes or adds, merged onto known keys.
  ///
  /// - Parameters:
  ///   - file: An armored or binary file with any number of keys.
  ///   - known: The key files of known people, by fingerprint.
  ///   - locations: The search path for programs, and the folder for the home.
  /// - Returns: The known keys to which the file adds something, and the other keys in it, in GnuPG's order. If it has
  ///   only known keys and adds nothing, both are empty.
  ///   The caller checks their sizes.
  /// - Throws: `empty`, `unreadable` or `nameless` if GnuPG finds no key in it; `secret`; `engine`.
  package static func merging(
    _ file: [UInt8], onto known: [Fingerprint: [UInt8]], locations: EngineLocations
  ) throws(Problem) -> (changed: [KeyFile], others: [KeyFile]) {
    let files = known.sorted { $0.key < $1.key }.map(\.value)
    let before = try read(files, locations: locations)
    let after = try read(files + [file], locations: locations)
    let old = Dictionary(before.map { ($0.key.fingerprint, $0.key) }) { first, _ in first }
    let changed = after.filter { new in old[new.key.fingerprint].map { !$0.isSame(as: new.key) } ?? false }
    let others = after.filter { old[$0.key.fingerprint] == nil }
    if changed.isEmpty, others.isEmpty, try read([file], locations: locations).isEmpty {
      let problem = emptiness(of: [file])
      if case .unreadable = problem { throw problem }
      // A file without a user id adds nothing to a known key that has all of it.
      let keys = KeyPackets.certificates(in: [file]).keys
      if keys.isEmpty || !keys.allSatisfy({ known[$0] != nil }) { throw problem }
    }
    return (changed, others)
  }

  private static func read(
    _ files: [[UInt8]], locations: EngineLocations
  ) throws(Problem) -> [KeyFile] {
    guard !files.contains(where: hasSecretKey) else { throw .secret }
    if let foreign = ForeignSubkey(ofPrimaryKeyIn: KeyPackets.certificates(in: files)) {
      throw .engine(.foreignSubkey(foreign))
    }
    do throws(EngineError) {
      // Without an agent a secret key that the check above has missed cannot be stored anywhere. A minimal import keeps
      // subkeys that have expired or are revoked; a minimal export would drop the former.
      let home = try TemporaryHome(
        withoutKeyIn: locations.runtimeBase, name: "key", searchPath: locations.searchPath,
        options: ["import-options import-minimal"])
      defer { home.remove() }
      let user = UserKeyring(
        locations: EngineLocations(
          userHome: home.home, runtimeBase: home.runtimeFolder, searchPath: locations.searchPath))
      let first = RevocationPackets.withoutSoftRevocations(in: files)
      for bytes in first.isEmpty ? files : [first] + files { try user.importKeys(bytes) }
      var found: [KeyFile] = []
      for key in try user.publicKeys() {
        let bytes = try user.export(key.fingerprint)
        // libgpgme does not notice that gpg was killed while it was listing the keys.
        guard Set(key.subkeys.map(\.fingerprint)).isSuperset(of: KeyPackets.fingerprints(in: bytes)) else {
          throw .incomplete(detail: "it did not list the whole key")
        }
        found.append(KeyFile(key: key, bytes: bytes))
      }
      return found
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
  /// - Throws: `engine` with `unusableKey` and `tooLarge`.
  package func requireSize() throws(Problem) {
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
