import Foundation
import KeytreeCLI
import TestSupport
import Testing

/// Each file in `fixtures/transcripts/care` is a test of the commands that maintain a store, with real GnuPG.
///
/// The comments at the top of a file have the same form as in the everyday transcripts. `$FIXTURES` is the folder that
/// contains all fixtures.
@Suite("Care transcripts", .serialized, .slow)
struct CareTranscriptTests {
  static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../../fixtures").standardizedFileURL
  static let folder = fixtures.appendingPathComponent("transcripts/care")

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
    let home = try StoreTranscriptTests.home(text, in: folder.path)
    defer { home.close() }
    var runner = TranscriptRunner(
      folder: folder.path,
      variables: [
        "GNUPGHOME": home.home, "XDG_RUNTIME_DIR": home.folder + "/run",
        "XDG_STATE_HOME": folder.path + "/state", "KEYTREE_STORE": folder.path + "/store",
        "FIXTURES": Self.fixtures.path, "GPG_TTY": "/dev/pts/9",
      ])
    let happened = try runner.follow(transcript).text
    if ProcessInfo.processInfo.environment["UPDATE_TRANSCRIPTS"] != nil {
      try happened.write(to: file, atomically: true, encoding: .utf8)
    }
    let difference = LineDifference.show(
      text.components(separatedBy: "\n"), happened.components(separatedBy: "\n"))
    #expect(difference == "", "\(name), - expected, + actual:\n\(difference)")
  }

  @Test("there are transcripts")
  func exist() {
    #expect(Self.names.count >= 10)
  }
}
