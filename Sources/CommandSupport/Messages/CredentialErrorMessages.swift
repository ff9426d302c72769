internal import Credentials
internal import KeyringModel

extension CredentialError: ReportableError {
  package var report: ErrorReport { ErrorReport(self) }
}

extension ErrorReport {
  fileprivate init(_ error: CredentialError) {
    switch error {
    case .malformed(let reason):
      self.init(
        .failure, "cannot read the request of the other program: \(reason)",
        hint: "nothing was changed; the request is not shown, because it may contain a secret")
    case .notJSON(let problem):
      self.init(
        .failure, "cannot read the request of the other program: \(problem.message)",
        hint: "nothing was changed; the request is not shown, because it may contain a secret")
    case .notRepresentable(let reference):
      self.init(
        .failure,
        "cannot return \(reference.text): it contains a line break or a NUL, which the "
          + "protocol cannot represent",
        hint: "`keytree get \(reference.text)` prints it")
    case .notUTF8(let reference):
      self.init(
        .failure,
        "cannot return \(reference.text): it is not UTF-8, which JSON requires",
        hint: "`keytree get \(reference.text)` prints it")
    case .damagedIndex:
      self.init(describing: CommandError.noMatchButDamage("the request of the other program"))
    case .ambiguous(let references):
      self.init(
        describing:
          CommandError.ambiguous("the request of the other program", candidates: references.map(\.text)))
    case .taken(let reference):
      let name = reference.text
      self.init(
        .alreadyExists,
        "cannot store the credential: \(name) has the same name and does not belong to docker",
        hint: "`keytree set \(name) -l \"Docker Credentials\"` assigns that item to docker")
    case .contended:
      self.init(
        .storeBusy, "cannot store the credential: other processes keep changing the same item",
        hint: "run the command again")
    }
  }
}
