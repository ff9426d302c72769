import Arguments
import Glibc
import Keyring
import Testing

@testable import CommandSupport
@testable import Interchange
@testable import KeytreeCLI
@testable import Terminal

@Suite("Error reports", .serialized)
struct ErrorReportTests {
  /// A name that would do harm if it were written to a terminal unescaped.
  static let evil = "e\u{1B}]0;x\u{7}\u{202E}\nl"

  static var failures: [(any ReportableError, ExitCode)] {
    plain + files + imports + breachLists + GitErrors.all
  }

  private static let plain: [(any ReportableError, ExitCode)] = [
    (UsageError(.unknownCommand(Word(evil), suggestion: nil), command: []), .usage),
    (UsageError(.missingCommand(choices: ["a"]), command: ["import"]), .usage),
    (UsageError(.unknownOption("--" + evil, suggestion: nil), command: ["get"]), .usage),
    (UsageError(.missingValue(option: "-a", value: "NAME"), command: ["get"]), .usage),
    (UsageError(.unexpectedValue(option: "--json"), command: ["get"]), .usage),
    (UsageError(.repeated(option: "-a"), command: ["get"]), .usage),
    (UsageError(.missingOperand("ITEM"), command: ["get"]), .usage),
    (UsageError(.tooManyOperands(allowed: 1), command: ["get"]), .usage),
    (UsageError(.notText("FILE"), command: ["get"]), .usage),
    (UsageError(.notInteger("N", 1...2, or: []), command: ["get"]), .usage),
    (UsageError(.notInteger("N", Int.min...Int.max, or: ["all"]), command: ["get"]), .usage),
    (UsageError(.notAChoice("N", choices: ["a"], suggestion: "a"), command: ["get"]), .usage),
    (UsageError(.conflict("--a", "--b"), command: ["get"]), .usage),
    (UsageError(.other("words"), command: ["get"]), .usage),
    (CommandError.storeLocationUnknown(reason: "x"), .failure), (CommandError.noHome, .failure),
    (TerminalError.promptImpossible(question: evil, .noTerminal), .cancelled),
    (TerminalError.promptImpossible(question: evil, .inputRefused), .cancelled),
    (TerminalError.cancelled(action: evil), .cancelled),
    (TerminalError.emptySecret, .failure),
    (TerminalError.secretsDiffer, .cancelled),
    (TerminalError.secretTooLong(limit: 1), .failure),
    (TerminalError.inputFailed(errno: 5), .failure),
    (TerminalError.outputFailed(errno: 28), .failure),
    (CommandError.noMatch(evil), .notFound),
    (CommandError.ambiguous(evil, candidates: [evil, evil]), .ambiguous),
    (EditorError.badCommand(evil), .failure),
    (EditorError.notFound(program: evil), .failure),
    (EditorError.noMemoryFolder(tried: [evil]), .failure),
    (EditorError.notStarted(program: evil, errno: 8), .failure),
    (EditorError.failed(program: evil, status: 1), .failure),
    (EditorError.killed(program: evil, signal: 9), .cancelled),
    (EditorError.interrupted(signal: 15), .cancelled),
    (EditorError.fileMissing, .cancelled),
    (EditorError.empty, .failure),
    (EditorError.tooLong(limit: 1), .failure),
    (EditorError.systemCall(action: "make", path: evil, errno: 28), .failure),
    (CommandError.severalKeys([evil, evil]), .ambiguous),
    (CommandError.noUsableKey(named: evil, [], someAreUsable: false), .recipientUnusable),
    (CommandError.noUsableKey(named: nil, [evil], someAreUsable: true), .recipientUnusable),
    (CommandError.noMatchButDamage(evil), .damaged),
    (CommandError.other(.failedChecks, message: "words", hint: "words"), .failedChecks),
  ]

  private static let files: [(any ReportableError, ExitCode)] = [
    (EEXIST, .alreadyExists), (ENOENT, .notFound), (ENOTDIR, .failure), (EISDIR, .failure),
    (EACCES, .failure), (EPERM, .failure), (ELOOP, .failure), (EFBIG, .failure), (ENOSPC, .failure),
    (EDQUOT, .failure), (EROFS, .failure), (EIO, .failure),
  ].map { (UserFileError(action: "create the file", path: evil, errno: $0), $1) }

  private static let breachLists: [(any ReportableError, ExitCode)] = [
    BreachListError.empty(path: evil), .notAFile(path: evil), .badLine(path: evil), .isNTLM(path: evil),
    .notSorted(path: evil), .incomplete(path: evil),
  ].map { ($0, .failure) }

  private static let imports: [(any ReportableError, ExitCode)] =
    [
      CSVError.empty, .tooLarge(limit: 1), .tooManyColumns(limit: 1),
      .notInEncoding(.utf16), .unclosedQuote(row: 1),
      .strayQuote(row: 1, column: 1),
      .textAfterQuote(row: 1, column: 1), .notText(row: 1), .duplicateColumns(1, 2),
      .columnNameTooLong(column: 1, limit: 1), .noSuchColumn(evil),
      .unknownHeader(columns: 1),
    ].map { (CommandError($0, file: evil), .failure) }
    + [
      PassTreeError.failed(path: [1], errno: ENOENT), .tooDeep(path: [1], limit: 1), .tooMany(limit: 1),
      .tooLarge(path: [1], limit: 1), .notAFile(path: [1]),
    ].map { (CommandError($0, folder: evil), .failure) }
    + [
      SourceError.notInstalled(.expat), .notInstalled(.zlib), .encrypted, .line(1, "it is wrong"),
      .otherFormat(expected: "a file"),
    ].map { (CommandError($0, file: evil), .failure) }
    + UnsupportedFile.allCases.map {
      (CommandError(SourceError.unsupported($0), file: evil), .failure)
    }
    + [
      QRCode.Problem.tooLong(limit: 1), .tooWide(columns: 2, terminal: 1), .notInstalled(library: "x"),
      .failed(errno: ENOMEM),
    ].map { ($0, .failure) }
    + [(CommandError(PassTreeError.failed(path: [], errno: ENOENT), folder: evil), .notFound)]

  @Test(
    "an error report has one line of message, an exit code, and no control characters",
    arguments: failures + KeyringErrors.all)
  func report(failure: any ReportableError, code: ExitCode) {
    let report = ErrorReport(describing: failure)
    #expect(report.exitCode == code)
    #expect(report.lines.first?.hasPrefix("keytree: ") == true)
    #expect(report.lines.count == 1 + report.details.count + (report.hint == nil ? 0 : 1))
    for line in report.lines {
      #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0.value != 0x202E })
      #expect(!line.hasSuffix("."))
    }
    #expect(report.hint == nil || report.lines.last?.hasPrefix("hint: ") == true)
  }

  @Test("an error report has a hint", arguments: failures + KeyringErrors.all)
  func hint(failure: any ReportableError, code: ExitCode) {
    #expect(ErrorReport(describing: failure).hint?.isEmpty == false)
  }

  @Test("an error report is empty when the output is closed")
  func closed() {
    #expect(ErrorReport(describing: TerminalError.outputClosed).lines.isEmpty)
    #expect(ErrorReport(describing: TerminalError.outputClosed).exitCode == .failure)
  }

  @Test func `the hint about a store of root does not say that root may own it`() {
    let report = ErrorReport(describing: KeyringError.unsafeFolder(path: "/srv/a b", .ownedBy(0)))
    #expect(
      report.lines == [
        "keytree: cannot use the folder /srv/a b: it belongs to root",
        "hint: a store must belong to the user who uses it; `sudo chown -R $(id -u) '/srv/a b'` gives it to you",
      ])
  }

  @Test("an error report lists the candidates of an ambiguous name")
  func candidates() {
    let report = ErrorReport(
      describing:
        CommandError.ambiguous("github.com", candidates: ["github.com/a", "github.com/b"]))
    #expect(
      report.lines == [
        "keytree: 2 items match github.com", "  github.com/a", "  github.com/b",
        "hint: give one of these names, or add attributes such as `-a ACCOUNT`",
      ])
  }

  /// Texts, and their forms in quotation marks.
  static let quoted = [
    ("a b", "\"a b\""), ("DOMAIN\\user", "\"DOMAIN\\user\""), ("a\", verified", "\"a\\\", verified\""),
    ("a\\", "\"a\\\\\""), ("a\\\"", "\"a\\\\\\\"\""), ("", "\"\""),
    // A combining mark after the quotation mark.
    ("a\"\u{301}", "\"a\\\"\u{301}\""),
  ]

  @Test(arguments: quoted)
  func `a text cannot end its quotation marks`(text: String, shown: String) {
    #expect(ErrorReport.quote(text) == shown)
  }

  @Test(arguments: [
    ("a  b", "\"a b\""), ("  a \u{3000}\u{2003} b  ", "\" a b \""), (" ", "\" \""), ("   ", "\" \""),
    ("", "\"\""),
  ])
  func `a run of blanks is shown as one`(text: String, shown: String) {
    #expect(ErrorReport.quoteCompact(text) == shown)
  }
}
