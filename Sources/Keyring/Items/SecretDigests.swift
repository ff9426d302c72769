internal import Encoding
internal import Glibc
internal import KeyringModel
internal import OpenPGP
internal import Secrets
internal import Synchronization

/// Keyed digests of secrets, which are kept on this machine: `<state>/<keyring>/imports`.
///
/// `key` is a random key that is encrypted to this user. `digests` has a line for each encrypted file of the store: the
/// digest of the file, and HMAC-SHA-256 (RFC 2104) of its secret with that key. Its first line is the same digest of a
/// constant, by which the key is recognised. The digests reveal nothing without the user's OpenPGP key, because computing
/// the digest of a guessed secret requires the key. Errors of reading or writing these files only cost time, so they are
/// ignored.
final class SecretDigests: Sendable {
  private struct State: Sendable {
    var key: SecretSlice?
    /// True if the key is in the file.
    var isKeyStored = false
    /// The digests of secrets by the digests of the encrypted files.
    var known: [ContentDigest: ContentDigest] = [:]
    /// The lines that are not in the file yet.
    var waiting: [UInt8] = []
  }

  private let keyring: Keyring
  private let folder: String
  private let state = Mutex(State())

  private static let keySize = 32
  /// The largest file that is read, in bytes: about 90,000 entries.
  private static let sizeLimit = 8 << 20
  /// The largest encrypted key.
  private static let keyFileLimit = 1 << 16

  /// Creates the value. No file is read yet.
  init(_ keyring: Keyring) {
    self.keyring = keyring
    folder = "\(keyring.policy.keyring.hex)/imports"
  }

  /// Reads the kept digests, or creates a new key if there is none that this user can decrypt.
  ///
  /// - Returns: True if the user's OpenPGP key is known to be unlocked.
  /// - Throws: `KeyringError.engine` if decrypting the key fails for a reason that concerns every file: a cancelled
  ///   prompt, an unreachable agent.
  @discardableResult
  func open() throws(KeyringError) -> Bool {
    if state.withLock({ $0.key != nil }) { return state.withLock { $0.isKeyStored } }
    let stored = try storedKey()
    state.withLock { state in
      state.key = stored ?? Self.newKey()
      state.isKeyStored = stored != nil
    }
    if stored != nil { load() }
    return stored != nil
  }

  /// Returns the kept digest of the secret in an encrypted file; nil if it is not known.
  func kept(_ file: ContentDigest) -> ContentDigest? { state.withLock { $0.known[file] } }

  /// Returns the keyed digest of a secret. ``open()`` must have been called.
  func digest(of secret: borrowing SecretBytes) -> ContentDigest {
    guard let key = state.withLock({ $0.key }) else { preconditionFailure("the key was not opened") }
    do throws(KeyedDigest.Failure) {
      let digest = try KeyedDigest(key: key.copy()).digest(of: secret)
      return unsafe digest.withBytes { unsafe ContentDigest(storedAs: $0) }
    } catch {
      // The digests of the store's files need the same hash function.
      preconditionFailure("libgcrypt cannot compute HMAC with SHA-256: \(error.reason)")
    }
  }

  /// Returns true if ``keep(_:_:)`` can be called: the key was opened, or there is none, and a new one is created.
  ///
  /// A key in a file is not opened, because that may prompt for a passphrase.
  func canKeep() -> Bool {
    if state.withLock({ $0.key != nil }) { return true }
    guard (try? keyFile()) == .some(nil) else { return false }
    state.withLock { $0.key = Self.newKey() }
    return true
  }

  /// Keeps the digest of the secret in an encrypted file. The key must be open.
  func keep(_ file: ContentDigest, _ secret: borrowing SecretBytes) {
    let digest = digest(of: secret)
    state.withLock { state in
      guard state.known.updateValue(digest, forKey: file) != digest else { return }
      state.waiting += Array("\(file.base64url) \(digest.base64url)\n".utf8)
    }
  }

  /// Writes the digests that were added.
  func write() {
    let (key, isKeyStored, lines) = state.withLock { ($0.key, $0.isKeyStored, $0.waiting) }
    // If no policy was accepted on this machine, the folder does not exist and is not created.
    guard let key, !lines.isEmpty, let tree = try? FileTree(at: keyring.host.stateBase),
      let isThere = try? tree.status(RelativePath.parent(of: folder)) != nil, isThere
    else { return }
    state.withLock { $0.waiting = [] }
    let path = "\(folder)/digests"
    if isKeyStored, let status = try? tree.status(path), status.size + lines.count <= Self.sizeLimit {
      _ = try? tree.appendFile(path, lines)
      return
    }
    // A key is used with one file only. If this is interrupted, the first line does not match the key.
    if !isKeyStored {
      let reader = keyring.policy.recipient(keyring.trusted.signer)
      guard let message = try? keyring.engine.seal(key.copy(), to: [reader]),
        (try? tree.replaceFileLater("\(folder)/key", with: message, temporary: "\(folder)/key.new")) != nil
      else { return }
      state.withLock { $0.isKeyStored = true }
    }
    _ = try? tree.replaceFileLater(path, with: header + lines, temporary: "\(path).new")
  }

  /// The first line of the file.
  private var header: [UInt8] {
    Array("\(digest(of: SecretBytes(copying: "keytree import digests".utf8)).base64url)\n".utf8)
  }

  private func load() {
    guard let tree = try? FileTree(at: keyring.host.stateBase),
      let bytes = try? tree.read("\(folder)/digests", limit: Self.sizeLimit), bytes.starts(with: header)
    else { return }
    var known: [ContentDigest: ContentDigest] = [:]
    // A line that was truncated by an interrupted write is not an entry.
    for line in bytes.dropFirst(header.count).split(separator: UInt8(ascii: "\n")) {
      let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
      guard words.count == 2, let file = ContentDigest(base64url: words[0]),
        let digest = ContentDigest(base64url: words[1])
      else { continue }
      known[file] = digest
    }
    state.withLock { $0.known.merge(known) { current, _ in current } }
  }

  // MARK: The key

  private func keyFile() throws(FileError) -> [UInt8]? {
    try FileTree(at: keyring.host.stateBase).read("\(folder)/key", limit: Self.keyFileLimit)
  }

  /// Returns the key of earlier imports; nil if there is none, or if this user cannot decrypt it any more.
  private func storedKey() throws(KeyringError) -> SecretSlice? {
    guard let message = try? keyFile() else { return nil }
    do {
      let key = try keyring.engine.open(message, limit: Self.keySize)
      return key.count == Self.keySize ? SecretSlice(key) : nil
    } catch {
      switch error {
      case .notARecipient, .corrupt, .alteredRecipients, .messageOfAStore, .notEncrypted, .tooLarge, .message:
        return nil
      default: throw .engine(error, nil)
      }
    }
  }

  private static func newKey() -> SecretSlice {
    var generator = SystemRandomNumberGenerator()
    var key = SecretBytes(capacity: keySize)
    for _ in 0..<keySize { key.append(UInt8.random(in: 0...255, using: &generator)) }
    return SecretSlice(key)
  }
}
