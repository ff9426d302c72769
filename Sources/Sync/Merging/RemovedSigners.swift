internal import Keyring
internal import KeyringModel

/// Accepts items that people have signed before this machine removed them.
///
/// A person who is removed here may have pushed changes that this machine has not received yet. Under the policy that
/// was in force on the remote, these changes are as valid as any other, so they must not be lost. A member who can read
/// such an item signs it again. A later change by the removed person is refused, because then the remote already has
/// the policy that removes them.
struct RemovedSigners {
  /// The paths of the accepted items, whose records must be signed again.
  private(set) var paths: Set<ItemPath> = []
  /// The keyring with the policy that was in force on the remote; nil if no other policy than the accepted one is
  /// needed.
  private let past: Keyring?
  private let keyring: Keyring

  /// Creates the check.
  ///
  /// - Parameters:
  ///   - keyring: The store with the accepted policy.
  ///   - judge: The keyring that verifies the items of the remote. If it is not `keyring`, the remote has changed the
  ///     policy, and only its policy counts.
  ///   - isNeeded: True if `judge` has rejected a record of the remote. Otherwise no policy is read.
  ///   - theirs: The commit of the remote.
  ///   - repository: The repository of the store.
  /// - Throws: The errors of `Git.run` and of reading policies.
  init(
    _ keyring: Keyring, judge: Keyring, isNeeded: Bool, at theirs: String,
    in repository: Repository
  ) throws {
    self.keyring = keyring
    guard judge === keyring, keyring.distrust == nil, isNeeded else {
      past = nil
      return
    }
    past = try PolicyHistoryReader(in: repository).earlier(keyring, at: theirs)
  }

  /// Replaces the contents of paths whose items the earlier policy accepts and this user can sign.
  ///
  /// - Parameters:
  ///   - contents: The items of the remote.
  ///   - files: The files of the items.
  ///   - commit: The commit of the remote.
  /// - Throws: `KeyringError.engine` if GnuPG cannot be used.
  mutating func admit(
    into contents: inout [ItemPath: ItemFiles.Content], _ files: ItemFiles, at commit: String
  ) throws {
    guard let past else { return }
    for (path, content) in try files.items(at: commit, [past]) {
      guard contents[path]?.isDistrusted ?? false, case .verified(let version) = content,
        let secret = files.secret(path, at: commit), keyring.canSign(for: version.record.group, secret)
      else { continue }
      contents[path] = content
      paths.insert(path)
    }
  }

  /// Signs conflict copies of the remote that the earlier policy accepts.
  ///
  /// - Parameter copies: The copies: the path of the record, the record, and the encrypted file.
  /// - Returns: The accepted copies with their new records, by path.
  /// - Throws: `KeyringError.engine` if GnuPG cannot be used.
  func resigned(
    _ copies: [(path: String, record: [UInt8], secret: [UInt8])]
  ) throws -> [String: (version: VerifiedRecord, record: [UInt8])] {
    guard let past else { return [:] }
    var accepted: [(path: String, version: VerifiedRecord)] = []
    for copy in copies {
      guard case .success(let version) = try past.verifiedCopy(copy.record, copy.secret, at: copy.path) else {
        continue
      }
      if keyring.canSign(for: version.record.group, copy.secret) { accepted.append((copy.path, version)) }
    }
    if accepted.isEmpty { return [:] }
    let files = try keyring.sign(accepted.map(\.version.record))
    return Dictionary(
      uniqueKeysWithValues: zip(accepted, files).map { ($0.path, (version: $0.version, record: $1.bytes)) })
  }
}
