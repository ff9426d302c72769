import Arguments
import Glibc
import Testing

@testable import KeytreeCLI

@Suite("Error reports")
struct ErrorReportTests {
  /// A name that would do harm if it reached a terminal.
  static let evil = "e\u{1B}]0;x\u{7}\u{202E}\nl"

  static var failures: [(Failure, ExitCode)] { plain + files + imports + GitErrors.all }

  private static let plain: [(Failure, ExitCode)] = [
    (.usage(UsageError(.unknownCommand(Word(evil), suggestion: nil), command: [])), .usage),
    (.usage(UsageError(.missingCommand(choices: ["a"]), command: ["import"])), .usage),
    (.usage(UsageError(.unknownOption("--" + evil, suggestion: nil), command: ["get"])), .usage),
    (.usage(UsageError(.missingValue(option: "-a", value: "NAME"), command: ["get"])), .usage),
    (.usage(UsageError(.unexpectedValue(option: "--json"), command: ["get"])), .usage),
    (.usage(UsageError(.repeated(option: "-a"), command: ["get"])), .usage),
    (.usage(UsageError(.missingOperand("ITEM"), command: ["get"])), .usage),
    (.usage(UsageError(.tooManyOperands(allowed: 1), command: ["get"])), .usage),
    (.usage(UsageError(.notText("FILE"), command: ["get"])), .usage),
    (.usage(UsageError(.notInteger("N", 1...2, or: []), command: ["get"])), .usage),
    (.usage(UsageError(.notInteger("N", Int.min...Int.max, or: ["all"]), command: ["get"])), .usage),
    (.usage(UsageError(.notAChoice("N", choices: ["a"], suggestion: "a"), command: ["get"])), .usage),
    (.usage(UsageError(.conflict("--a", "--b"), command: ["get"])), .usage),
    (.usage(UsageError(.other("words"), command: ["get"])), .usage),
    (.storeLocationUnknown(reason: "x"), .failure),
    (.promptImpossible(question: evil, .noTerminal), .cancelled),
    (.promptImpossible(question: evil, .inputRefused), .cancelled),
    (.cancelled(action: evil), .cancelled),
    (.emptySecret, .failure),
    (.secretsDiffer, .cancelled),
    (.secretTooLong(limit: 1), .failure),
    (.inputFailed(errno: 5), .failure),
    (.outputFailed(errno: 28), .failure),
    (.noMatch(evil), .notFound),
    (.ambiguous(evil, candidates: [evil, evil]), .ambiguous),
    (.editor(.badCommand(evil)), .failure),
    (.editor(.notFound(program: evil)), .failure),
    (.editor(.noMemoryFolder(tried: [evil])), .failure),
    (.editor(.notStarted(program: evil, errno: 8)), .failure),
    (.editor(.failed(program: evil, status: 1)), .failure),
    (.editor(.killed(program: evil, signal: 9)), .cancelled),
    (.editor(.interrupted(signal: 15)), .cancelled),
    (.editor(.fileMissing), .cancelled),
    (.editor(.empty), .failure),
    (.editor(.tooLong(limit: 1)), .failure),
    (.editor(.systemCall(action: "make", path: evil, errno: 28)), .failure),
    (.severalKeys([evil, evil].map(ErrorReport.show)), .ambiguous),
    (.noUsableKey(named: evil, [], someAreUsable: false), .recipientUnusable),
    (.noUsableKey(named: nil, [ErrorReport.show(evil)], someAreUsable: true), .recipientUnusable),
    (.noMatchButDamage(evil), .damaged),
    (.other(.failedChecks, message: "words", hint: "words"), .failedChecks),
  ]

  private static let files: [(Failure, ExitCode)] = [
    (EEXIST, .alreadyExists), (ENOENT, .notFound), (ENOTDIR, .failure), (EISDIR, .failure),
    (EACCES, .failure), (EPERM, .failure), (ELOOP, .failure), (EFBIG, .failure), (ENOSPC, .failure),
    (EDQUOT, .failure), (EROFS, .failure), (EIO, .failure),
  ].map { (.file(action: "make the file", path: evil, errno: $0), $1) }

  private static let imports: [(Failure, ExitCode)] =
    [
      CSVError.empty, .tooLarge(limit: 1), .tooManyColumns(limit: 1),
      .wrongColumnCount(row: 1, found: 1, expected: 2), .unclosedQuote(row: 1),
      .strayQuote(row: 1, column: 1),
      .textAfterQuote(row: 1, column: 1), .notText(row: 1), .duplicateColumn(evil), .noSuchColumn(evil),
      .unknownHeader(columns: 1),
    ].map { (Failure($0, file: evil), .failure) }
    + [
      PassTreeError.failed(path: [1], errno: ENOENT), .tooDeep(path: [1], limit: 1), .tooMany(limit: 1),
      .tooLarge(path: [1], limit: 1), .notAFile(path: [1]),
    ].map { (Failure($0, folder: evil), .failure) }
    + [(Failure(PassTreeError.failed(path: [], errno: ENOENT), folder: evil), .notFound)]

  @Test(
    "have one line of words, an exit code, and nothing that a terminal obeys",
    arguments: failures + KeyringErrors.all)
  func report(failure: Failure, code: ExitCode) {
    let report = ErrorReport(failure)
    #expect(report.exitCode == code)
    #expect(report.lines.first?.hasPrefix("keytree: ") == true)
    #expect(report.lines.count == 1 + report.details.count + (report.hint == nil ? 0 : 1))
    for line in report.lines {
      #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0.value != 0x202E })
      #expect(!line.hasSuffix("."))
    }
    #expect(report.hint == nil || report.lines.last?.hasPrefix("hint: ") == true)
  }

  @Test("say what to do next", arguments: failures + KeyringErrors.all)
  func hint(failure: Failure, code: ExitCode) {
    #expect(ErrorReport(failure).hint?.isEmpty == false)
  }

  @Test("say nothing when nobody reads any more")
  func closed() {
    #expect(ErrorReport(.outputClosed).lines.isEmpty)
    #expect(ErrorReport(.outputClosed).exitCode == .failure)
  }

  @Test("list the candidates of an ambiguous name")
  func candidates() {
    let report = ErrorReport(.ambiguous("github.com", candidates: ["keytree://a", "keytree://b"]))
    #expect(
      report.lines == [
        "keytree: 2 items match github.com", "  keytree://a", "  keytree://b",
        "hint: give one of these references, or narrow it with attributes such as `-a ACCOUNT`",
      ])
  }
}
