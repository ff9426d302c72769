internal import KeyringModel

/// Messages that were sealed again and are not in the store yet: `<state>/<keyring>/resealed`, outside of the store.
///
/// To seal thousands of items takes long, and is done before the store's lock is taken. What is cut off meanwhile goes
/// on from here. A file is named after what went into it: the message before and those who were to read it.
struct ResealedMessages: Sendable {
  private let base: String
  private let folder: String

  init(_ keyring: Keyring) {
    base = keyring.host.stateBase
    folder = "\(keyring.policy.keyring.hex)/resealed"
  }

  /// The name for a message of an item, sealed again for some people.
  static func name(of record: ItemRecord, for recipients: [Fingerprint]) -> String {
    let people = recipients.map(\.text).sorted().joined(separator: " ")
    let content = "\(record.sealed.base64url) \(people) \(record.group)"
    return ContentDigest(of: Array(content.utf8)).base64url
  }

  /// The message that was kept; nil when none was, or it cannot be read: then it is made again.
  func message(_ name: String) -> [UInt8]? {
    guard let tree = try? FileTree(at: base) else { return nil }
    guard let bytes = try? tree.read("\(folder)/\(name)", limit: StoreLayout.sealedItemLimit) else {
      return nil
    }
    // One that was cut off while it was written ends too early, which its digest at the front shows.
    let digest = bytes.prefix(Self.digestSize)
    let message = Array(bytes.dropFirst(Self.digestSize))
    return ContentDigest(of: message).bytes.elementsEqual(digest) ? message : nil
  }

  /// Keeps a message. It is not brought to disk, and a failure costs only time when the work is cut off.
  func keep(_ message: [UInt8], _ name: String) {
    guard let tree = try? FileTree(at: base) else { return }
    _ = try? tree.replaceFileLater(
      "\(folder)/\(name)", with: ContentDigest(of: message).bytes + message,
      temporary: "\(folder)/\(name).new")
  }

  /// Forgets everything.
  func removeAll() {
    // Litter that stays is removed the next time.
    guard let tree = try? FileTree(at: base), let names = try? tree.list(folder) else { return }
    for name in names { _ = try? tree.remove("\(folder)/\(name)") }
    _ = try? tree.removeDirectory(folder)
  }

  private static let digestSize = 32
}
