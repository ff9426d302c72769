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
        .failure, "cannot read what the other program wrote: \(reason)",
        hint: "nothing was done; what it wrote is not shown, since it may hold a secret")
    case .notJSON(let problem):
      self.init(
        .failure, "cannot read what the other program wrote: \(problem.words)",
        hint: "nothing was done; what it wrote is not shown, since it may hold a secret")
    case .notRepresentable(let reference):
      self.init(
        .failure,
        "cannot hand out \(reference.text): it holds a line end or a NUL, and the protocol "
          + "has no way to carry that",
        hint: "`keytree get \(reference.text)` prints it")
    case .notUTF8(let reference):
      self.init(
        .failure,
        "cannot hand out \(reference.text): it is not UTF-8, and JSON cannot carry that",
        hint: "`keytree get \(reference.text)` prints it")
    case .damagedIndex:
      self.init(describing: CommandError.noMatchButDamage("what the other program asks for"))
    case .ambiguous(let references):
      self.init(
        describing:
          CommandError.ambiguous("what the other program asks for", candidates: references.map(\.text)))
    case .taken(let reference):
      let name = reference.text
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
