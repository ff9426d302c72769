package import Keyring
package import KeyringModel

/// The result of a check of a store, a commit, or a push.
package struct Verification: Sendable {
  /// The findings: those of the history first.
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
  /// A Boolean value that indicates whether the beginning of the history is missing.
  package var isCutOff = false
  /// A Boolean value that indicates whether the policy that this machine has accepted is on the chain.
  package var isPinned = false

  /// A Boolean value that indicates whether the policy cannot be trusted, so that all other results mean
  /// little.
  package var isDistrusted: Bool {
    findings.contains { finding in
      switch finding.kind {
      case .chain, .policy: true
      default: false
      }
    }
  }

  /// Nothing but findings.
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
    // What was not written looks as if it was missing.
    let known = Set(strays.map(\.path))
    findings += strays + store.findings.filter { !known.contains($0.path) }
    warnings += store.warnings
    items += store.items
  }

  /// Looks at a store as it lies in its folder, and at its history.
  ///
  /// - Parameters:
  ///   - path: The store's folder.
  ///   - repository: Its repository; nil when it uses none.
  ///   - start: What the chain of policies has to begin with.
  ///   - room: Where GnuPG works.
  ///   - progress: Told how many of how many items are done.
  /// - Throws: As `Git.run`, and `KeyringError` when the store or GnuPG cannot be used.
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

  /// Looks at a commit and what leads to it.
  ///
  /// - Parameters:
  ///   - commit: Its full name.
  ///   - repository: Where it is.
  ///   - start: What the chain of policies has to begin with.
  ///   - room: Where GnuPG works, and the files go.
  ///   - progress: Told how many of how many items are done.
  /// - Throws: As `Git.run`, and `KeyringError` with `noStore`, or when GnuPG cannot be used.
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

  /// Looks at the files of a commit whose history was looked at.
  init(
    of commit: String, after history: PolicyHistory, in repository: Repository, room: VerificationWorkspace,
    progress: @escaping (Int, Int) -> Void
  ) throws {
    self.init(history)
    // One push may bring the same commit to several branches.
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
  /// The full name of a commit; nil when there is none.
  ///
  /// - Throws: as `Git.run`.
  package func commitForVerification(_ name: String) throws -> String? {
    return try git.commit(name)
  }
}
