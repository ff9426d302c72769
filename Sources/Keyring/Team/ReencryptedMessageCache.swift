internal import Glibc
internal import KeyringModel
internal import Synchronization

/// A cache of re-encrypted messages that are not in the store yet: `<state>/<keyring>/resealed`. It is outside of the
/// store, so write access to the store is not enough to add a message.
///
/// Re-encrypting thousands of items takes a long time, and happens before the store's lock is taken. If it is
/// interrupted, the next run continues with the messages in the cache.
final class ReencryptedMessageCache: Sendable {
  private struct State: Sendable {
    /// The messages of earlier runs, by their names.
    var found: [String: [UInt8]] = [:]
    /// The entries that have not been written to a file yet.
    var waiting: [UInt8] = []
    var lastWrite: timespec
    var files = 0
  }

  /// The seconds between two writes. If the run is interrupted, the messages since the last write are lost.
  private static let writeInterval = 1
  /// The maximum number of bytes to read from earlier runs. Messages beyond this limit are re-encrypted.
  private static let readLimit = 1 << 28

  private let base: String
  private let folder: String
  /// The prefix of the files of this run.
  private let run: String
  private let state: Mutex<State>

  /// Reads the messages of earlier runs. A message that cannot be read is re-encrypted.
  init(_ keyring: Keyring) {
    base = keyring.host.stateBase
    folder = Self.folder(of: keyring)
    let now = Self.now
    run = "\(getpid())-\(now.tv_sec)-\(now.tv_nsec)"
    var state = State(lastWrite: now)
    if let tree = try? FileTree(at: base), let names = try? tree.list(folder) {
      var rest = Self.readLimit
      for name in names {
        guard let bytes = try? tree.read("\(folder)/\(name)", limit: rest) else { continue }
        rest -= bytes.count
        Self.read(bytes, into: &state.found)
      }
    }
    self.state = Mutex(state)
  }

  /// Returns the name for a re-encrypted message: a digest over the digest of the old message, the new recipients and
  /// the group.
  static func name(of record: ItemRecord, for recipients: [Fingerprint]) -> String {
    let people = recipients.map(\.text).sorted().joined(separator: " ")
    let content = "\(record.sealed.base64url) \(people) \(record.group)"
    return ContentDigest(of: Array(content.utf8)).base64url
  }

  /// Returns the message of an earlier run; nil if there is none.
  func message(_ name: String) -> [UInt8]? { state.withLock { $0.found[name] } }

  /// Adds a message. It is not flushed to disk. If it is lost, an interrupted run only takes longer to repeat.
  func keep(_ message: [UInt8], _ name: String) {
    state.withLock { state in
      Self.append(message, name, to: &state.waiting)
      if Self.now.tv_sec - state.lastWrite.tv_sec >= Self.writeInterval { write(&state) }
    }
  }

  /// Writes all messages that are not in a file yet.
  func finish() { state.withLock { write(&$0) } }

  private func write(_ state: inout State) {
    if !state.waiting.isEmpty, let tree = try? FileTree(at: base) {
      let path = "\(folder)/\(run)-\(state.files)"
      _ = try? tree.replaceFileLater(path, with: state.waiting, temporary: "\(path).new")
    }
    state.files += 1
    (state.waiting, state.lastWrite) = ([], Self.now)
  }

  /// Removes all cached messages of a keyring.
  static func removeAll(of keyring: Keyring) {
    let folder = folder(of: keyring)
    // A file that cannot be removed is removed the next time.
    guard let tree = try? FileTree(at: keyring.host.stateBase), let names = try? tree.list(folder) else {
      return
    }
    for name in names { _ = try? tree.remove("\(folder)/\(name)") }
    _ = try? tree.removeDirectory(folder)
  }

  private static func folder(of keyring: Keyring) -> String { "\(keyring.policy.keyring.hex)/resealed" }

  private static var now: timespec {
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    return now
  }

  // MARK: Entries

  // An entry is a line `<name> <digest of the message> <length of the message>`, followed by the message.

  private static func append(_ message: [UInt8], _ name: String, to bytes: inout [UInt8]) {
    bytes += "\(name) \(ContentDigest(of: message).base64url) \(message.count)\n".utf8
    bytes += message
  }

  /// Reads the entries of a file. Stops at the first incomplete entry, which an interrupted run may leave.
  private static func read(_ bytes: [UInt8], into found: inout [String: [UInt8]]) {
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let words = String(decoding: rest[..<end], as: UTF8.self).split(separator: " ")
      guard words.count == 3, let length = Int(words[2]), (0...StoreLayout.sealedItemLimit).contains(length)
      else { return }
      let message = Array(rest[(end + 1)...].prefix(length))
      guard ContentDigest(of: message).base64url == words[1] else { return }
      found[String(words[0])] = message
      rest = rest[(end + 1)...].dropFirst(length)
    }
  }
}
