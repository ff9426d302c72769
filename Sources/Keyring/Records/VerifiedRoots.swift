internal import KeyringModel
internal import Synchronization

/// The signed messages that were verified on this machine, so that GnuPG verifies each only once.
///
/// They are stored in `<state>/<keyring>/roots/<hh>`, one line for each message: its digest, the signer's primary
/// fingerprint, and the digest of the signer's key file. An entry is valid only while the signer has that key file,
/// because a newer one may revoke the key. Membership in a group is checked each time. Errors of reading or writing
/// these files only cost time, so they are ignored.
final class VerifiedRoots: Sendable {
  private let base: String
  private let folder: String
  private let keyFiles: [Fingerprint: ContentDigest]
  private let known = Mutex<[ContentDigest: Fingerprint]>([:])
  /// Element *n* is true if file *n* was read. An array, because the first use of a set with another element type makes
  /// the runtime search all protocol conformances of the program.
  private let isLoaded = Mutex(Array(repeating: false, count: 256))

  /// The largest file that is read, in bytes: about 40,000 entries.
  private static let sizeLimit = 8 << 20

  /// Creates the cache for a keyring. No file is read yet.
  ///
  /// - Parameters:
  ///   - base: The folder for the policies that this machine has accepted.
  ///   - keyring: The keyring.
  ///   - keys: The key files of its members.
  init(base: String, keyring: KeyringID, keys: [Fingerprint: [UInt8]]) {
    self.base = base
    folder = "\(keyring.hex)/roots"
    keyFiles = keys.mapValues { ContentDigest(of: $0) }
  }

  /// Returns the signer of a message if it was verified before with the signer's current key file, otherwise nil.
  ///
  /// - Parameter message: The digest of the signed message.
  func signer(of message: ContentDigest) -> Fingerprint? {
    if let signer = known.withLock({ $0[message] }) { return signer }
    load(message.bytes[0])
    return known.withLock { $0[message] }
  }

  /// Remembers the signers of messages, in this process and on this machine.
  ///
  /// - Parameter signers: The signers by the digests of the messages.
  func remember(_ signers: [ContentDigest: Fingerprint]) {
    var lines: [UInt8: [UInt8]] = [:]
    for (message, signer) in signers {
      guard let key = keyFiles[signer] else { continue }
      let isNew = known.withLock { known in
        defer { known[message] = signer }
        return known[message] == nil
      }
      guard isNew else { continue }
      lines[message.bytes[0], default: []] += Array(
        "\(message.base64url) \(signer.text) \(key.base64url)\n".utf8)
    }
    guard !lines.isEmpty, let tree = try? FileTree(at: base) else { return }
    // If no policy was accepted on this machine, the folder does not exist and is not created.
    guard let isThere = try? tree.status(RelativePath.parent(of: folder)) != nil, isThere else { return }
    for (number, bytes) in lines { _ = try? tree.appendFile(file(number), bytes) }
  }

  private func file(_ number: UInt8) -> String { "\(folder)/\(Hexadecimal.text([number]))" }

  private func load(_ number: UInt8) {
    let isKnown = isLoaded.withLock { isLoaded in
      defer { isLoaded[Int(number)] = true }
      return isLoaded[Int(number)]
    }
    if isKnown { return }
    guard let tree = try? FileTree(at: base),
      let bytes = try? tree.read(file(number), limit: Self.sizeLimit)
    else { return }
    var entries: [ContentDigest: Fingerprint] = [:]
    // A line that was truncated by an interrupted write is not an entry.
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
      guard words.count == 3, let message = ContentDigest(base64url: words[0]),
        let signer = Fingerprint(words[1]), let key = ContentDigest(base64url: words[2]),
        keyFiles[signer] == key
      else { continue }
      entries[message] = signer
    }
    known.withLock { $0.merge(entries) { current, _ in current } }
  }
}
