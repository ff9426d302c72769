internal import Glibc
package import Interchange
internal import KeyringModel
internal import OpenPGP
internal import Secrets
internal import Terminal

// The messages for sources that cannot be read. They never quote the content of a field.

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
      hint = "split it into several files, each with the header row"
    case .tooManyColumns(let limit): reason = "it has more than \(limit) columns"
    case .unclosedQuote(let row):
      reason = "a quoted field that begins in row \(row) is not closed"
      hint = "inside a quoted field, write each quote twice"
    case .strayQuote(let row, let column):
      reason = "a quote is inside the unquoted field \(column) of row \(row)"
      hint = "inside a quoted field, write each quote twice"
    case .textAfterQuote(let row, let column):
      reason = "text follows the closing quote of field \(column) of row \(row)"
      hint = "inside a quoted field, write each quote twice"
    case .notText(let row):
      reason = "row \(row) contains a NUL character, so it is not text in UTF-8"
      hint = "export it again as UTF-8, or convert it with `import csv FILE --encoding utf-16`"
    case .notInEncoding(let encoding):
      reason = "it is not text in \(encoding.rawValue)"
      hint = "give its encoding, or export it again as UTF-8"
    case .duplicateColumns(let first, let second):
      reason = "the columns \(first) and \(second) of the first row have the same name"
      hint = "rename one of them in the first row; a file without names of columns needs such a row"
    case .columnNameTooLong(let column, let limit):
      reason = "the name of column \(column) is longer than \(limit) bytes"
      hint = "shorten it in the first row; a file without names of columns needs such a row"
    case .noSuchColumn(let title):
      reason = "it has no column \(ErrorReport.quote(title))"
      hint = "give `--map` the name of a column from the first row"
    case .unknownHeader(let columns):
      reason = "the first row (\(columns) columns) is not that of any supported program"
      hint = "name the columns: `--map COLUMN=secret --map COLUMN=account ...`"
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
      hint = "export it again as UTF-8; `import csv FILE --encoding ENCODING` converts a CSV file"
    case .encrypted:
      reason = "it is encrypted by the program that wrote it"
      hint = "export it again without a password, import it, and remove the file"
    case .json(let problem): reason = problem.message
    case .xml(let problem): reason = problem.message
    case .archive(let problem): reason = problem.message
    case .line(let number, let problem): reason = "line \(number): \(problem)"
    case .otherFormat(let expected): reason = "it is not \(expected)"
    case .unsupported(let file):
      reason = "it is \(file.description)"
      hint = file.advice
    case .notInstalled(let library):
      reason = "\(library.fileName) is not installed"
      hint = "`sudo apt-get install \(library.package)` installs it"
    }
    self = .other(.failure, message: "cannot read \(name): \(reason)", hint: hint)
  }

  /// Creates the failure for a password store that cannot be read.
  package init(_ error: PassTreeError, folder: String) {
    func show(_ path: [UInt8]) -> String { Escaping.terminal.show(path) }
    let store = folder
    let isItTheStore = "give the folder of a password store, usually `~/.password-store`"
    switch error {
    case .failed(let path, let number):
      let place = path.isEmpty ? store : "\(store)/\(show(path))"
      let code: ExitCode = path.isEmpty && number == ENOENT ? .notFound : .failure
      self = .other(
        code, message: "cannot read \(place): \(ErrorReport.systemMessage(number))",
        hint: ErrorReport.hint(number))
    case .tooDeep(let path, let limit):
      self = .other(
        .failure,
        message: "cannot read \(store): its folders are nested deeper than \(limit) levels (\(show(path)))",
        hint: isItTheStore)
    case .tooMany(let limit):
      self = .other(
        .failure, message: "cannot read \(store): it has more than \(limit) files",
        hint: isItTheStore)
    case .tooLarge(let path, let limit):
      self = .other(
        .failure, message: "cannot read \(store)/\(show(path)): it is larger than \(limit) bytes",
        hint: "move it out of the store of pass, then import the rest")
    case .notAFile(let path):
      self = .other(
        .failure, message: "cannot read \(store)/\(show(path)): it is no longer a file",
        hint: "run the command again when no other program changes that store")
    }
  }
}

extension UnsupportedFile {
  fileprivate var description: String {
    switch self {
    case .keePass: "a KeePass database (.kdbx)"
    case .keePass1: "a KeePass 1 database (.kdb)"
    case .passwordSafe: "a Password Safe database (.psafe3)"
    case .onePasswordVault: "a vault of 1Password (.agilekeychain or .opvault)"
    case .onePIF: "an export of 1Password in the old format 1PIF"
    case .enpass: "a vault of Enpass"
    case .protonPass: "a JSON export of Proton Pass"
    case .keychain: "a macOS keychain"
    case .spreadsheet: "a spreadsheet document"
    case .pdf: "a PDF document"
    case .sqlite: "an SQLite database"
    case .archive: "a ZIP archive, but not a 1PUX export of 1Password"
    case .gzip: "compressed with gzip"
    case .openPGP: "encrypted with GnuPG"
    case .age: "encrypted with age"
    }
  }

  fileprivate var advice: String {
    switch self {
    case .keePass:
      "export it as XML: in KeePass with File > Export > KeePass XML (2.x), in KeePassXC with Database > Export > XML File"
    case .keePass1:
      "export it from KeePass 1 as CSV with File > Export To, or open it in KeePass 2 and export XML"
    case .passwordSafe: "import it in KeePass or KeePassXC, and export XML there"
    case .onePasswordVault, .onePIF:
      "open it in 1Password and export it as 1PUX, or as CSV from 1Password 7"
    case .enpass: "export it from Enpass with File > Export, in the format JSON"
    case .protonPass: "export it from Proton Pass again, in the format CSV"
    case .keychain: "on a Mac, `security dump-keychain -d` writes a text that can be imported"
    case .spreadsheet:
      "save it as CSV in UTF-8 from the spreadsheet program, or export CSV from the password manager"
    case .pdf: "export from the password manager again, in the format CSV or JSON"
    case .sqlite: "export CSV from the settings of the browser or the password manager"
    case .archive: "unzip it in a folder that only you can read, and import the file in it"
    case .gzip: "`gunzip -c FILE | keytree import -` imports its content"
    case .openPGP: "`gpg -d FILE | keytree import -` imports its content"
    case .age: "`age -d FILE | keytree import -` imports its content"
    }
  }
}

extension PassTreeError {
  /// The reason why one file of a store cannot be read, for the report.
  package var message: String {
    switch self {
    case .failed(_, let number): "it cannot be read: \(ErrorReport.systemMessage(number))"
    case .tooDeep(_, let limit): "its folders are nested deeper than \(limit) levels"
    case .tooMany(let limit): "the store has more than \(limit) files"
    case .tooLarge(_, let limit): "it is larger than \(limit) bytes"
    case .notAFile: "it is no longer a file"
    }
  }
}

extension EngineError {
  /// The reason why this one file cannot be decrypted. Nil if the error affects all files, for example a cancelled
  /// prompt or an unreachable agent (threat T36).
  package var wordsForOneFile: String? {
    switch self {
    case .notARecipient(let recipients):
      "it is encrypted to \(recipients.map(\.text).joined(separator: ", ")), and you have none of these keys"
    case .corrupt: "it is damaged"
    case .alteredRecipients: "its recipients were changed"
    case .messageOfAStore: "it is the file of an item of a Keytree store, and may have other readers there"
    case .notEncrypted: "it contains no encrypted message"
    case .tooLarge(let limit): "its contents are larger than \(limit) bytes"
    case .message(let error): error.message
    default: nil
    }
  }
}

extension XMLProblem {
  fileprivate var message: String {
    switch self {
    case .truncated: "its XML is truncated"
    case .malformed(let line): "line \(line) is not valid XML"
    case .documentType(let line): "line \(line) declares a document type, which exports do not have"
    case .tooDeep(let line): "the elements in line \(line) are nested too deeply"
    case .tooMany(let limit): "it has more than \(limit) elements"
    }
  }
}

extension ArchiveProblem {
  fileprivate var message: String {
    switch self {
    case .notAnArchive: "it is not a ZIP archive, or it is truncated"
    case .damaged: "it is a damaged ZIP archive"
    case .tooManyMembers(let limit): "it has more than \(limit) members"
    case .duplicateName: "two members of the archive have the same name"
    case .unsafeName: "a member of the archive has a name that points outside the archive"
    case .encrypted: "a member of the archive is encrypted"
    case .unsupported: "it is a kind of ZIP archive that is not supported"
    case .tooLarge(let limit): "its contents are larger than \(limit >> 20) MiB"
    case .badChecksum: "a member of the archive is damaged: its checksum is wrong"
    }
  }
}
