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
        "cannot return \(reference.spokenName): it contains a line break or a NUL, which the "
          + "protocol cannot represent",
        hint: "`keytree get \(reference.spokenName)` prints it")
    case .notUTF8(let reference):
      self.init(
        .failure,
        "cannot return \(reference.spokenName): it is not UTF-8, which JSON requires",
        hint: "`keytree get \(reference.spokenName)` prints it")
    case .damagedIndex:
      self.init(describing: CommandError.noMatchButDamage("the request of the other program"))
    case .ambiguous(let items): self.init(severalItems: items)
    case .taken(let reference):
      let name = reference.spokenName
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

  /// Creates the report for several items that match the request of a program, which can name no group.
  private init(severalItems items: [ItemRecord]) {
    let last = items.last?.reference.text ?? "ITEM"
    let isOneGroup = Set(items.map(\.group)).count == 1
    let isOneAccount = Set(items.map { $0.attributes[.account]?.contentBytes ?? [] }).count == 1
    let account = isOneAccount ? "" : "; or let the program name the account"
    self.init(
      .ambiguous, "\(items.count) items match the request of the other program",
      hint: isOneGroup
        ? "`keytree set \(last) --secret` replaces the secret of the last one\(account)"
        : "the program names no group, so keep one item: `keytree rm \(last)` removes the last one, and "
          + "`keytree mv \(last) NAME` renames it\(account)",
      details: items.map { "  \($0.reference.spokenName) in group \(Self.quote($0.group))" })
  }
}
