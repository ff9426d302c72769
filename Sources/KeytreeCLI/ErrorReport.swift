internal import Arguments
internal import Glibc
internal import KeyringModel

/// The one place where failures become words, a hint and an exit code.
///
/// A report reads `keytree: what failed, on which item, why` and `hint:` with what to do next. Names and paths in it are escaped for a terminal, whoever reads it.
package struct ErrorReport: Equatable, Sendable {
  /// What the caller of the program is told.
  package let exitCode: ExitCode
  /// What failed, without the name of the program; nil when nobody is to be told.
  package let message: String?
  /// What to do next; nil only where nobody is to be told anything.
  package let hint: String?
  /// What else belongs to it, one line each: the candidates of an ambiguous name.
  package let details: [String]

  init(_ exitCode: ExitCode, _ message: String, hint: String, details: [String] = []) {
    self.exitCode = exitCode
    self.message = message
    self.hint = hint
    self.details = details
  }

  /// A report that says nothing.
  private init(silent exitCode: ExitCode) {
    self.exitCode = exitCode
    message = nil
    hint = nil
    details = []
  }

  /// The report of a failure.
  package init(_ failure: Failure) {
    switch failure {
    case .usage(let error):
      self.init(error)
    case .keyring(let error):
      self.init(error)
    case .git(let error):
      self.init(error)
    case .sync(let error):
      self.init(error)
    case .notCommitted(let error):
      self.init(notCommitted: error)
    case .file(let action, let path, let number):
      self.init(
        Self.exitCode(number), "cannot \(action) \(Self.show(path)): \(Self.words(number))",
        hint: Self.hint(number))
    case .keyFile(let problem, let source):
      self.init(problem, source: source)
    case .severalPeople(let name, let people):
      self.init(
        .ambiguous, "\(people.count) people match \(Self.quote(name))", hint: "give the fingerprint",
        details: people.map { "  " + $0 })
    case .other(let code, let message, let hint):
      self.init(code, message, hint: hint)
    case .editor(let failure):
      self.init(failure)
    case .storeLocationUnknown(let reason):
      self.init(
        .failure, "cannot tell where the store is: \(reason)",
        hint: "give it with `--store DIR` or in `KEYTREE_STORE`")
    case .promptImpossible(let question, .inputRefused):
      self.init(
        .cancelled, "cannot ask \(Self.quote(question)): `--no-input` forbids it",
        hint: "run it without `--no-input` on a terminal")
    case .promptImpossible(let question, .noTerminal):
      self.init(
        .cancelled, "cannot ask \(Self.quote(question)): standard input is not a terminal",
        hint: "run it on a terminal")
    case .promptImpossible(let question, .noTerminalBesideProgram):
      self.init(
        .cancelled, "cannot ask \(Self.quote(question)): there is no terminal", hint: "run it on a terminal")
    case .cancelled(let action):
      self.init(.cancelled, "cancelled: \(Self.show(action))", hint: "run it again, and answer the question")
    case .emptySecret:
      self.init(
        .failure, "cannot store the secret: it is empty",
        hint: "give it on standard input, type it at the prompt, or use `--generate`")
    case .secretsDiffer:
      self.init(
        .cancelled, "cannot store the secret: the two entries differed three times",
        hint: "run it again, or give the secret on standard input")
    case .secretTooLong(let limit):
      self.init(
        .failure, "cannot store the secret: it is longer than \(limit) bytes", hint: Self.largeSecretHint)
    case .inputFailed(let number):
      self.init(
        .failure, "cannot read standard input: \(Self.words(number))",
        hint: "give it a file or a pipe, as in `keytree add ITEM < FILE`")
    case .outputFailed(let number):
      self.init(
        .failure, "cannot write standard output: \(Self.words(number))",
        hint: "send it to a pipe, or to a file on a disk with room")
    case .outputClosed, .exit:
      self.init(silent: .failure)
    case .noMatch(let name, let fields):
      self.init(
        .notFound, "no item matches \(Self.show(name))",
        hint: fields.isEmpty
          ? "`keytree find TEXT` searches all attributes"
          : "only fields of it are there: \(fields.map { "`--field \($0)`" }.joined(separator: ", "))")
    case .noMatchButDamage(let name):
      self.init(
        .damaged, "no item matches \(Self.show(name)), but a damaged line of the index might be it",
        hint: "`keytree check --repair` rebuilds lines from the sealed items")
    case .severalKeys(let keys):
      self.init(
        .ambiguous, "cannot choose the owner of the store: \(keys.count) of your keys can be used",
        hint: "name one with `--key` and its fingerprint", details: keys.map { "  " + $0 })
    case .noUsableKey(let name, let keys, let someAreUsable):
      self.init(
        .recipientUnusable,
        name.map { "no secret key of \(Self.quote($0)) can be used" }
          ?? (keys.isEmpty ? "you have no secret key" : "none of your secret keys can be used"),
        hint: someAreUsable
          ? "name one of your keys with `--key` and its fingerprint or full mail address"
          : "`gpg --quick-generate-key \"NAME <MAIL>\"` makes one", details: keys.map { "  " + $0 })
    case .editedMeanwhile(let reference, let copy):
      self.init(
        .failure,
        "\(Self.show(reference.text)) was changed while you edited it: your version is kept as "
          + Self.show(copy.text),
        hint: "`keytree resolve` shows both, and keeps the one that you choose")
    case .ambiguous(let name, let candidates):
      self.init(
        .ambiguous, "\(candidates.count) items match \(Self.show(name))",
        hint: "give one of these references, or narrow it with attributes such as `-a ACCOUNT`",
        details: candidates.map { "  " + Self.show($0) })
    }
  }

  /// The lines for standard error.
  package var lines: [String] {
    guard let message else { return [] }
    return ["keytree: " + message] + details + (hint.map { ["hint: " + $0] } ?? [])
  }

  /// What to do with a secret that is too large.
  static var largeSecretHint: String {
    "encrypt the data with a key of its own, and store that key here"
  }

  /// Text from outside in the form for people.
  static func show(_ text: String) -> String { Escaping.terminal.show(text) }

  /// Text from outside between quotation marks.
  static func quote(_ text: String) -> String { "\"" + show(text) + "\"" }

  /// What to do about an error number of the system.
  static func hint(_ number: Int32) -> String {
    switch number {
    case ENOENT, ENOTDIR: "look at the path with `ls`: every folder in it has to exist"
    case EEXIST: "nothing is overwritten: give another name, or remove it first"
    case EISDIR: "give the name of a file in that folder"
    case EACCES, EPERM: "`ls -ld` shows whose it is and what you may do with it"
    case ELOOP: "give the path without links"
    case EFBIG: "make sure that it is the right file"
    case ENOSPC, EDQUOT: "make room on the disk (`df` shows how much there is), then run it again"
    case EROFS: "give a place on a disk that is not mounted read-only"
    default: "`keytree doctor` tries everything that keytree depends on"
    }
  }

  /// The exit code for a file of the person.
  private static func exitCode(_ number: Int32) -> ExitCode {
    switch number {
    case ENOENT: .notFound
    case EEXIST: .alreadyExists
    default: .failure
    }
  }

  /// The words of the system for an error number; `strerror(3)`.
  static func words(_ number: Int32) -> String {
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
  }
}
