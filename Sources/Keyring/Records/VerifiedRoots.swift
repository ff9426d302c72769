internal import KeyringModel
internal import Synchronization

/// The signed messages that were verified on this machine, so that each is given to GnuPG once.
///
/// `<state>/<keyring>/roots/<hh>`, one line for each message: its digest, the signer's primary fingerprint, and the digest
/// of the signer's key file. An entry counts only while the signer has that key file: a newer one may revoke the key.
/// Whether the signer is a member of a group is judged anew each time. What cannot be read or written costs time,
/// nothing else.
final class VerifiedRoots: Sendable {
  private let base: String
  private let folder: String
  private let keyFiles: [Fingerprint: ContentDigest]
  private let known = Mutex<[ContentDigest: Fingerprint]>([:])
  private let loaded = Mutex<Set<UInt8>>([])

  /// The largest file that is read, in bytes: about 40,000 entries.
  private static let sizeLimit = 8 << 20

  /// Describes the memory of a keyring; nothing is read yet.
  ///
  /// - Parameters:
  ///   - base: The folder for what this machine has accepted.
  ///   - keyring: The keyring.
  ///   - keys: The key files of its people.
  init(base: String, keyring: KeyringID, keys: [Fingerprint: [UInt8]]) {
    self.base = base
    folder = "\(keyring.hex)/roots"
    keyFiles = keys.mapValues { ContentDigest(of: $0) }
  }

  /// Returns who signed a message, if that was verified before with the key file that the signer has now.
  ///
  /// - Parameter message: The digest of the signed message.
  func signer(of message: ContentDigest) -> Fingerprint? {
    if let signer = known.withLock({ $0[message] }) { return signer }
    load(message.bytes[0])
    return known.withLock { $0[message] }
  }

  /// Remembers who signed messages, in this process and on this machine.
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
    // Whoever has accepted nothing has no folder there, and gets none.
    guard let isThere = try? tree.status(RelativePath.parent(of: folder)) != nil, isThere else { return }
    for (number, bytes) in lines { _ = try? tree.appendFile(file(number), bytes) }
  }

  private func file(_ number: UInt8) -> String { "\(folder)/\(Hexadecimal.text([number]))" }

  private func load(_ number: UInt8) {
    guard loaded.withLock({ $0.insert(number).inserted }) else { return }
    guard let tree = try? FileTree(at: base),
      let bytes = try? tree.read(file(number), limit: Self.sizeLimit)
    else { return }
    var entries: [ContentDigest: Fingerprint] = [:]
    // A line that was cut off while it was written is not an entry.
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
