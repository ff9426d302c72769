package import Keyring
package import KeyringModel

/// The result of a check of a store, a commit, or a push.
package struct Verification: Sendable {
  /// The findings, starting with those of the history.
  package var findings: [Finding] = []
  /// Problems that will occur soon.
  package var warnings: [Finding] = []
  /// The number of items.
  package var items = 0
  /// The number of policies in the chain that leads to the last one.
  package var policies = 0
  /// The signer of the first policy, if that was checked and is valid.
  package var firstSigner: Fingerprint?
  /// The number of policies that merges have dropped because another one was made concurrently.
  package var leftBehind = 0
  /// True if the beginning of the history is missing.
  package var isCutOff = false
  /// True if the policy that this machine has accepted is in the chain.
  package var isPinned = false

  /// True if the policy cannot be trusted, so the other results are not meaningful.
  package var isDistrusted: Bool {
    findings.contains { finding in
      switch finding.kind {
      case .chain, .policy: true
      default: false
      }
    }
  }

  /// Creates a result that contains only findings.
  package init(_ findings: [Finding]) { self.findings = findings }

  private init(_ history: PolicyHistory) {
    findings = history.findings
    policies = history.count
    firstSigner = history.firstSigner
    leftBehind = history.leftBehind.count
    isCutOff = history.isCutOff
    isPinned = history.isPinned
  }

  private mutating func take(_ store: StoreVerification, besides strays: [Finding] = []) {
    // A file that was not extracted would also be reported as missing.
    let known = Set(strays.map(\.path))
    findings += strays + store.findings.filter { !known.contains($0.path) }
    warnings += store.warnings
    items += store.items
  }

  /// Checks the store in a folder and its history.
  ///
  /// - Parameters:
  ///   - path: The folder of the store.
  ///   - repository: The repository of the store; nil if it does not use git.
  ///   - start: The starting point for the chain of policies.
  ///   - room: The environment for GnuPG.
  ///   - progress: Called with the number of checked items and the total number.
  /// - Throws: The errors of `Git.run`, and `KeyringError` if the store or GnuPG cannot be used.
  package init(
    ofStoreAt path: String, in repository: Repository?, from start: PolicyHistory.Start,
    room: VerificationWorkspace, progress: @escaping (Int, Int) -> Void = { _, _ in }
  ) throws {
    let head = try repository?.commitForVerification("HEAD")
    let tree: FileTree
    let store: StoreVerification
    tree = try StoreFolder.open(path)
    store = try Keyring.forVerification(at: path, in: room).verify(in: room, progress: progress)
    let history = try PolicyHistory(to: head, then: tree, from: start, in: repository, room: room)
    self.init(history)
    var strays: [Finding] = []
    if let repository, let head {
      let policy = isDistrusted ? nil : history.last?.policy
      strays = try CommittedTree(of: head, in: repository, AllowedFiles(beside: policy)).findings
    }
    take(store, besides: strays)
  }

  /// Checks a commit and its history.
  ///
  /// - Parameters:
  ///   - commit: The full name of the commit.
  ///   - repository: The repository that contains the commit.
  ///   - start: The starting point for the chain of policies.
  ///   - room: The environment for GnuPG and for extracted files.
  ///   - progress: Called with the number of checked items and the total number.
  /// - Throws: The errors of `Git.run`, and `KeyringError` with `noStore`, or if GnuPG cannot be used.
  package init(
    ofCommit commit: String, in repository: Repository, from start: PolicyHistory.Start,
    room: VerificationWorkspace, progress: @escaping (Int, Int) -> Void = { _, _ in }
  ) throws {
    let history = try PolicyHistory(to: commit, then: nil, from: start, in: repository, room: room)
    try self.init(of: commit, after: history, in: repository, room: room, progress: progress)
    guard history.last != nil || isDistrusted else {
      throw KeyringError.noStore(path: "\(repository.top) at \(commit)")
    }
  }

  /// Checks the files of a commit whose history was checked.
  init(
    of commit: String, after history: PolicyHistory, in repository: Repository, room: VerificationWorkspace,
    progress: @escaping (Int, Int) -> Void
  ) throws {
    self.init(history)
    // Each check gets a new folder, because a push may update several branches to the same commit.
    let folder = room.newPath()
    defer { room.removeFolder(at: folder) }
    let files = try CommittedStore(
      of: commit, in: repository, policy: isDistrusted ? nil : history.last?.policy, to: folder)
    guard history.last != nil else {
      findings += files.findings
      return
    }
    let keyring = try Keyring.forVerification(at: files.folder, in: room)
    take(try keyring.verify(in: room, progress: progress), besides: files.findings)
  }
}

extension Repository {
  /// Returns the full name of a commit; nil if there is none.
  ///
  /// - Throws: The errors of `Git.run`.
  package func commitForVerification(_ name: String) throws -> String? {
    return try git.commit(name)
  }
}
