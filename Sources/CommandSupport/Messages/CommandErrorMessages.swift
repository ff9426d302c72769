internal import Arguments
internal import Glibc
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Sync
internal import Terminal

// The messages of errors that belong to the command line itself.

extension CommandError: ReportableError {
  package var report: ErrorReport { ErrorReport(self) }
}

extension TerminalError: ReportableError {
  package var report: ErrorReport { ErrorReport(self) }
}

extension UserFileError: ReportableError {
  package var report: ErrorReport {
    ErrorReport(
      ErrorReport.exitCode(errno), "cannot \(action) \(path): \(ErrorReport.systemMessage(errno))",
      hint: ErrorReport.hint(errno))
  }
}

extension UsageError: ReportableError {
  package var report: ErrorReport { ErrorReport(self) }
}

extension NotCommittedError: ReportableError {
  package var report: ErrorReport { ErrorReport(notCommitted: cause) }
}

extension ErrorReport {
  fileprivate init(_ error: CommandError) {
    switch error {
    case .exit: self.init(silent: .failure)
    case .keyFile(let problem, let source):
      self.init(problem, source: source)
    case .severalPeople(let name, let people):
      self.init(
        .ambiguous, "\(people.count) people match \(Self.quote(name))", hint: "give the fingerprint",
        details: people.map { "  " + $0 })
    case .severalKeysWithMail(let mail, let keys):
      self.init(
        .ambiguous, "\(keys.count) keys in your GnuPG keyring have the address \(Self.quote(mail))",
        hint: "give the fingerprint", details: keys.map { "  " + $0 })
    case .other(let code, let message, let hint):
      self.init(code, message, hint: hint)
    case .storeLocationUnknown(let reason):
      self.init(
        .failure, "the location of the store is unknown: \(reason)",
        hint: "set it with `--store DIR` or in `KEYTREE_STORE`")
    case .noMatch(let name, let isNamed, let fields, let candidates):
      let hint =
        if !fields.isEmpty {
          "only these fields exist: \(fields.map { "`--field \($0)`" }.joined(separator: ", "))"
        } else if !candidates.isEmpty {
          "these match; give the name of one of them"
        } else {
          "`keytree find WORD...` searches all attributes"
        }
      self.init(
        .notFound, "no item \(isNamed ? "is named" : "matches") \(name)", hint: hint,
        details: candidates.map { "  " + $0 })
    case .noMatchButDamage(let name):
      self.init(
        .damaged, "no item matches \(name), but a damaged line of the index might be it",
        hint: "`keytree check --repair` rebuilds the line from the signed records")
    case .severalKeys(let keys):
      self.init(
        .ambiguous, "cannot choose the owner of the store: \(keys.count) of your keys can be used",
        hint: "choose one with `--key FINGERPRINT`", details: keys.map { "  " + $0 })
    case .noUsableKey(let name, let keys, let someAreUsable):
      self.init(
        .recipientUnusable,
        name.map { "no secret key of \(Self.quote($0)) can be used" }
          ?? (keys.isEmpty ? "you have no secret key" : "none of your secret keys can be used"),
        hint: someAreUsable
          ? "choose one of your keys with `--key` and its fingerprint or full mail address"
          : Self.newKeyHint, details: keys.map { "  " + $0 })
    case .editedMeanwhile(let name):
      self.init(
        .failure,
        "\(name) changed while you edited it: your version was saved as a conflict copy",
        hint: "`keytree resolve` shows both versions and keeps the one that you choose")
    case .ambiguous(let name, let candidates):
      self.init(
        .ambiguous, "\(candidates.count) items match \(name)",
        hint: "give one of these names, or add attributes such as `-a ACCOUNT`",
        details: candidates.map { "  " + $0 })
    }
  }

  fileprivate init(_ error: TerminalError) {
    switch error {
    case .outputClosed: self.init(silent: .failure)
    case .lineTooLong(let limit):
      self.init(
        .failure, "cannot read the secret: a line typed on a terminal has at most \(limit) bytes",
        hint: "write it to standard input, as in `keytree add ITEM < FILE`")
    case .promptImpossible(let question, .inputRefused):
      self.init(
        .cancelled, "cannot ask \(Self.quote(question)): `--no-input` forbids it",
        hint: "run the command on a terminal without `--no-input`")
    case .promptImpossible(let question, .noTerminal):
      self.init(
        .cancelled, "cannot ask \(Self.quote(question)): standard input is not a terminal",
        hint: "run the command on a terminal")
    case .promptImpossible(let question, .noTerminalBesideProgram):
      self.init(
        .cancelled, "cannot ask \(Self.quote(question)): no terminal is available",
        hint: "run the command on a terminal")
    case .cancelled(let action):
      self.init(.cancelled, "cancelled: \(action)", hint: "run the command again and answer the question")
    case .emptySecret:
      self.init(
        .failure, "cannot store the secret: it is empty",
        hint: "write it to standard input, or use `--generate`; `--allow-empty` stores an empty secret")
    case .secretsDiffer:
      self.init(
        .cancelled, "cannot store the secret: the two entries differed three times",
        hint: "run the command again, or write the secret to standard input")
    case .secretTooLong(let limit):
      self.init(
        .failure, "cannot store the secret: it is longer than \(limit) bytes", hint: Self.largeSecretHint)
    case .inputFailed(let number):
      self.init(
        .failure, "cannot read standard input: \(Self.systemMessage(number))",
        hint: "use a file or a pipe as standard input, as in `keytree add ITEM < FILE`")
    case .outputFailed(let number):
      self.init(
        .failure, "cannot write standard output: \(Self.systemMessage(number))",
        hint: "write to a pipe, or to a file on a disk with free space")
    }
  }
}

extension KeyringError: ReportableError {
  package var report: ErrorReport { ErrorReport(self) }
}

extension FileError: ReportableError {
  package var report: ErrorReport { ErrorReport(self) }
}

extension GitError: ReportableError {
  package var report: ErrorReport { ErrorReport(self) }
}

extension SyncError: ReportableError {
  package var report: ErrorReport { ErrorReport(self) }
}

extension EditorError: ReportableError {
  package var report: ErrorReport { ErrorReport(self) }
}
