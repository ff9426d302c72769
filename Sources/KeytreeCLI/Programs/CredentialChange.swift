internal import Credentials
internal import Keyring
internal import KeyringModel
internal import Secrets

/// The way of other programs' credentials into a store, and into its history.
extension CommandCall {
  /// Makes a change for another program, and commits it.
  ///
  /// - Parameter body: Makes it; false when nothing has changed, so that there is nothing to commit.
  /// - Throws: what `body` throws; `NotCommittedError` when the change is stored and git could not commit it.
  func changing(_ body: (Keyring) throws -> Bool) throws {
    finishMerges()
    let keyring = try openKeyring()
    defer { explain(keyring.engineStatistics) }
    let isChanged = try body(keyring)
    if isChanged { try commitPending() }
  }

  /// Returns the accounts of a keyring that were last used on this machine.
  func recentLogins(of keyring: Keyring) -> RecentLogins {
    // Without these folders no keyring could be opened.
    RecentLogins(base: (environment.stateHome ?? "") + "/keytree", keyring: keyring.policy.keyring)
  }
}

extension CredentialError: ReportableError {
  package var report: ErrorReport { ErrorReport(self) }
}

extension ErrorReport {
  fileprivate init(_ error: CredentialError) {
    switch error {
    case .malformed(let reason):
      self.init(
        .failure, "cannot read what the other program wrote: \(reason)",
        hint: "nothing was done; what it wrote is not shown, since it may hold a secret")
    case .notJSON(let problem):
      self.init(
        .failure, "cannot read what the other program wrote: \(problem.words)",
        hint: "nothing was done; what it wrote is not shown, since it may hold a secret")
    case .cannotCarry(let reference):
      self.init(
        .failure,
        "cannot hand out \(ErrorReport.show(reference.text)): it holds a line end or a NUL, and the protocol "
          + "has no way to carry that",
        hint: "`keytree get \(ErrorReport.show(reference.text))` prints it")
    case .notUTF8(let reference):
      self.init(
        .failure,
        "cannot hand out \(ErrorReport.show(reference.text)): it is not UTF-8, and JSON cannot carry that",
        hint: "`keytree get \(ErrorReport.show(reference.text))` prints it")
    case .damagedIndex:
      self.init(describing: CommandError.noMatchButDamage("what the other program asks for"))
    case .ambiguous(let references):
      self.init(
        describing:
          CommandError.ambiguous("what the other program asks for", candidates: references.map(\.text)))
    case .taken(let reference):
      let name = ErrorReport.show(reference.text)
      self.init(
        .alreadyExists, "cannot store the credential: \(name) has its name, and is not docker's",
        hint: "`keytree set \(name) -l \"Docker Credentials\"` hands that item to docker")
    case .contended:
      self.init(
        .storeBusy, "cannot store the credential: other processes keep changing the same item",
        hint: "run it again")
    }
  }
}
