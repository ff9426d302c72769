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
  /// one does not revert anything.
  ///
  /// - Parameters:
  ///   - files: Armored or binary files, each with the same single key.
  ///   - fingerprint: The expected key, if known.
  ///   - locations: The search path for programs, and the folder for the home.
  /// - Throws: The reason why it is not the key of one person.
  package init(
    reading files: [[UInt8]], expecting fingerprint: Fingerprint? = nil, locations: EngineLocations
  ) throws(Problem) {
    guard !files.contains(where: Self.hasSecretKey) else { throw .secret }
    let keys: [PublicKey]
    do throws(EngineError) {
      // Without an agent a secret key that the check above has missed cannot be stored anywhere.
      let home = try TemporaryHome(
        withoutKeyIn: locations.runtimeBase, name: "key", searchPath: locations.searchPath)
      defer { home.remove() }
      let user = UserKeyring(
        locations: EngineLocations(
          userHome: home.home, runtimeBase: home.runtimeFolder, searchPath: locations.searchPath))
      for bytes in files { try user.importKeys(bytes) }
      keys = try user.publicKeys()
      bytes = keys.count == 1 ? try user.exportMinimal(keys[0].fingerprint) : []
    } catch {
      throw .engine(error)
    }
    guard let found = keys.first else {
      for case .unreadable(let needed) in files.map(KeyPackets.problem) { throw .unreadable(needs: needed) }
      throw .empty
    }
    guard keys.count == 1 else { throw .several(keys.map(\.fingerprint).sorted()) }
    if let fingerprint, found.fingerprint != fingerprint { throw .other(found.fingerprint) }
    guard Set(found.subkeys.map(\.fingerprint)).isSuperset(of: KeyPackets.fingerprints(in: bytes)) else {
      throw .engine(.incomplete(detail: "it did not list the whole key"))
    }
    key = found
  }

  /// Creates a key file from a known key.
  package init(key: PublicKey, bytes: [UInt8]) {
    self.key = key
    self.bytes = bytes
  }

  /// Returns true if a file has a secret key: armored anywhere in it, or as its first packet (RFC 9580, 5.5.1.3).
  package static func hasSecretKey(_ bytes: [UInt8]) -> Bool {
    guard let first = bytes.first else { return false }
    let isNew = first & 0xC0 == 0xC0
    let tag = isNew ? first & 63 : first >> 2 & 15
    if first & 0x80 != 0, tag == 5 || tag == 7 { return true }
    return ByteSearch.contains(bytes, Array("BEGIN PGP PRIVATE KEY BLOCK".utf8))
  }
}
