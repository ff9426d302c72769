import Arguments
import CommandSupport
import Foundation
import KeytreeCLI
import Terminal
import Testing

/// Each file in `fixtures/transcripts` is a test. With `UPDATE_TRANSCRIPTS=1` in the environment, the files are
/// rewritten to the actual results. Review the difference before you commit it.
@Suite("Transcripts", .serialized)
struct TranscriptTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../../fixtures/transcripts").standardizedFileURL

  static let names: [String] = {
    // Without the folder there are no test cases, and `there are transcripts` fails.
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return files.filter { $0.hasSuffix(".txt") }.sorted()
  }()

  @Test("each transcript matches what happens", arguments: names)
  func happens(name: String) throws {
    let file = Self.folder.appendingPathComponent(name)
    let text = try String(contentsOf: file, encoding: .utf8)
    let transcript = try Transcript(parsing: text)
    #expect(transcript.text == text, "the file has the canonical form of a transcript")
    let folder = try TemporaryFolder()
    var runner = TranscriptRunner(folder: folder.path)
    let happened = try runner.follow(transcript).text
    if ProcessInfo.processInfo.environment["UPDATE_TRANSCRIPTS"] != nil {
      try happened.write(to: file, atomically: true, encoding: .utf8)
    }
    let difference = LineDifference.show(
      text.components(separatedBy: "\n"), happened.components(separatedBy: "\n"))
    #expect(difference == "", "\(name), - expected, + happened:\n\(difference)")
  }

  @Test("there are transcripts")
  func covers() {
    #expect(Self.names.count >= 3)
  }
}

/// A folder with a short name that contains a folder `home`. It is removed at the end.
final class TemporaryFolder {
  let path: String

  init() throws {
    path = "/tmp/kt-" + UUID().uuidString.prefix(8)
    try FileManager.default.createDirectory(atPath: path + "/home", withIntermediateDirectories: true)
  }

  deinit {
    // A leftover folder is no reason to fail.
    try? FileManager.default.removeItem(atPath: path)
  }
}

@Suite("The transcript runner", .serialized)
struct TranscriptRunnerTests {
  /// A program that prints its input.
  private func echo(_ words: [Word], _ environment: Environment, _ console: Console) -> ExitCode {
    // The words are written without escaping, including tabs.
    for word in words { console.write(TerminalText(composed: word.approximateText + "\n")) }
    if let text = environment.text("GREETING") { console.say(text) }
    if words.last == "ask" {
      // The test needs the question; the answer does not matter.
      _ = try? console.confirm("Really")
    }
    if words.last == "bare" { console.write("no line feed") }
    console.flush()
    return words.last == "fail" ? .notFound : .done
  }

  private func follow(_ text: String) throws -> String {
    let folder = try TemporaryFolder()
    var runner = TranscriptRunner(folder: folder.path, program: echo)
    return try runner.follow(Transcript(parsing: text)).text
  }

  @Test(
    "the runner returns a transcript unchanged if it matches",
    arguments: [
      "$ keytree a 'b c' \"d\" $'e\\x66'\na\nb c\nd\nef\n",
      "# a comment\n\n$ keytree fail\nfail\n? 4\n",
      "@ env GREETING=hi\n$ keytree x\nx\n2> hi\n\n@ env GREETING\n$ keytree y\ny\n",
      "$ keytree '#no' '$ no' ''\n1> #no\n1> $ no\n1>\n",
      "$ keytree bare\nbare\n1\\ no line feed\n",
      "@ terminal\n$ keytree ask\n< y\nask\n2> Really? [y/N] y\n",
      "$ keytree $'a\\tb' <TMP>/x\na<TAB>b\n<TMP>/x\n",
      "$ keytree 0123456789abcdef0123456789abcdef\n<ID>\n\n$ keytree <ID>\n0123456789abcdef0123456789abcdef\n",
      "$ keytree '2026-11-20T18:32:09.123456Z and more'\n<DATE> and <ANY>\n",
      "! echo hi > file\n\n! test -s file\n\n$ keytree done\ndone\n",
    ])
  func agrees(text: String) throws {
    #expect(try follow(text) == text)
  }

  @Test(
    "the runner replaces each line that differs with the actual one",
    arguments: [
      ("$ keytree a\nb\n", "$ keytree a\na\n"),
      ("$ keytree a\na\n2> x\n", "$ keytree a\na\n"),
      ("$ keytree fail\nfail\n", "$ keytree fail\nfail\n? 4\n"),
      ("$ keytree a\n<ID>\n", "$ keytree a\na\n"),
      ("$ keytree a\n1\\ a\n", "$ keytree a\na\n"),
      ("$ keytree a b\na\n", "$ keytree a b\na\nb\n"),
    ])
  func disagrees(text: String, happened: String) throws {
    #expect(try follow(text) == happened)
    #expect(
      LineDifference.show(text.components(separatedBy: "\n"), happened.components(separatedBy: "\n")) != "")
  }

  @Test(
    "the runner refuses an invalid transcript",
    arguments: ["stray output\n", "@ nonsense\n$ keytree a\na\n", "$ keytree 'a\n", "$ ls\n", "! false\n"])
  func refuses(text: String) {
    #expect(throws: (any Error).self) { try follow(text) }
  }
}
