internal import Glibc
package import Interchange
internal import KeyringModel
internal import OpenPGP
internal import Secrets
internal import Terminal

// The messages for sources that cannot be read. They contain no content of a source.

extension CommandError {
  /// Creates the failure for a CSV file that cannot be understood.
  package init(_ error: CSVError, file: String) {
    let name = file == "-" ? "standard input" : file
    var hint = "make sure that it is the right file, or export it again"
    let reason: String
    switch error {
    case .empty: reason = "it is empty"
    case .tooLarge(let limit):
      reason = "it is larger than \(limit >> 20) MiB"
      hint = "split it into several files, each with the first row"
    case .tooManyColumns(let limit): reason = "it has more than \(limit) columns"
    case .wrongColumnCount(let row, let found, let expected):
      reason = "row \(row) has \(found) \(found == 1 ? "field" : "fields"), the header has \(expected)"
      hint = "a field that holds a comma, a quote or a line end stands in quotes"
    case .unclosedQuote(let row):
      reason = "a quoted field that begins in row \(row) does not end"
      hint = "within quotes a quote is written twice"
    case .strayQuote(let row, let column):
      reason = "a quote stands inside of field \(column) of row \(row)"
      hint = "within quotes a quote is written twice"
    case .textAfterQuote(let row, let column):
      reason = "something follows the closing quote of field \(column) of row \(row)"
      hint = "within quotes a quote is written twice"
    case .notText(let row):
      reason = "row \(row) holds a NUL, so it is not UTF-8"
      hint = "export it again as UTF-8"
    case .duplicateColumn(let title):
      reason = "two columns have the name \(ErrorReport.quote(title))"
      hint = "rename one of them in the first row"
    case .noSuchColumn(let title):
      reason = "it has no column \(ErrorReport.quote(title))"
      hint = "`--map` takes the name of a column from the first row"
    case .unknownHeader(let columns):
      reason = "no program that keytree knows writes such a first row (\(columns) columns)"
      hint = "say what the columns are: `--map COLUMN=secret --map COLUMN=account ...`"
    }
    self = .other(.failure, message: "cannot read \(name): \(reason)", hint: hint)
  }

  /// Creates the failure for a file of another program that cannot be understood.
  package init(_ error: SourceError, file: String) {
    let name = file == "-" ? "standard input" : file
    var hint = "make sure that it is the right file, or export it again"
    let reason: String
    switch error {
    case .empty: reason = "it is empty"
    case .tooLarge(let limit): reason = "it is larger than \(limit >> 20) MiB"
    case .notUTF8:
      reason = "it is not text in UTF-8"
      hint = "export it again as UTF-8"
    case .encrypted:
      reason = "it is encrypted by the program that wrote it"
      hint = "export it again without a password, import it, and remove the file"
    case .json(let problem): reason = problem.words
    case .xml(let problem): reason = problem.words
    case .archive(let problem): reason = problem.words
    case .line(let number, let problem): reason = "line \(number): \(problem)"
    case .otherFormat(let expected): reason = "it is not \(expected)"
    }
    self = .other(.failure, message: "cannot read \(name): \(reason)", hint: hint)
  }

  /// Creates the failure for a password store that cannot be read.
  package init(_ error: PassTreeError, folder: String) {
    func show(_ path: [UInt8]) -> String { Escaping.terminal.show(path) }
    let store = folder
    let isItTheStore = "is this the folder of a password store, most often `~/.password-store`?"
    switch error {
    case .failed(let path, let number):
      let place = path.isEmpty ? store : "\(store)/\(show(path))"
      let code: ExitCode = path.isEmpty && number == ENOENT ? .notFound : .failure
      self = .other(
        code, message: "cannot read \(place): \(ErrorReport.words(number))", hint: ErrorReport.hint(number))
    case .tooDeep(let path, let limit):
      self = .other(
        .failure,
        message: "cannot read \(store): more than \(limit) folders inside each other (\(show(path)))",
        hint: isItTheStore)
    case .tooMany(let limit):
      self = .other(
        .failure, message: "cannot read \(store): more than \(limit) files",
        hint: isItTheStore)
    case .tooLarge(let path, let limit):
      self = .other(
        .failure, message: "cannot read \(store)/\(show(path)): larger than \(limit) bytes",
        hint: "move it out of the store of pass, then import the rest")
    case .notAFile(let path):
      self = .other(
        .failure, message: "cannot read \(store)/\(show(path)): it is no file any more",
        hint: "run it again when nothing else changes that store")
    }
  }
}

extension PassTreeError {
  /// The reason why one file of a store cannot be read, for the report.
  package var words: String {
    switch self {
    case .failed(_, let number): "cannot be read: \(ErrorReport.words(number))"
    case .tooDeep(_, let limit): "more than \(limit) folders inside each other"
    case .tooMany(let limit): "more than \(limit) files"
    case .tooLarge(_, let limit): "larger than \(limit) bytes"
    case .notAFile: "it is no file any more"
    }
  }
}

extension EngineError {
  /// The reason why one file cannot be decrypted, if other files may not be affected. Nil if the error concerns all of
  /// them: a cancelled prompt, an unreachable agent (threat T36).
  package var wordsForOneFile: String? {
    switch self {
    case .notARecipient(let recipients):
      "it is encrypted to \(recipients.map(\.text).joined(separator: ", ")), and you have none of these keys"
    case .corrupt: "it is damaged"
    case .alteredRecipients: "its recipients were changed"
    case .notEncrypted: "it holds no encrypted message"
    case .tooLarge(let limit): "it holds more than \(limit) bytes"
    case .message(let error): error.words
    default: nil
    }
  }
}

extension XMLProblem {
  fileprivate var words: String {
    switch self {
    case .truncated: "it is XML that breaks off"
    case .malformed(let line): "line \(line) is no XML"
    case .documentType(let line): "line \(line) declares a document type, which no export has"
    case .tooDeep(let line): "line \(line) has too many elements inside each other"
    case .tooMany(let limit): "it has more than \(limit) elements"
    }
  }
}

extension ArchiveProblem {
  fileprivate var words: String {
    switch self {
    case .notAnArchive: "it is no ZIP archive, or one that breaks off"
    case .damaged: "it is a damaged ZIP archive"
    case .tooManyMembers(let limit): "it has more than \(limit) members"
    case .duplicateName: "two members of the archive have one name"
    case .unsafeName: "a member of the archive has a name that leads out of it"
    case .encrypted: "a member of the archive is encrypted"
    case .unsupported: "it is a ZIP archive of a kind that is not read"
    case .tooLarge(let limit): "what it holds is larger than \(limit >> 20) MiB"
    case .badChecksum: "a member of the archive is damaged: its check sum is wrong"
    }
  }
}
