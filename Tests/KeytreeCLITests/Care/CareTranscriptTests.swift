import Foundation
import KeytreeCLI
import TestSupport
import Testing

/// Every file in `fixtures/transcripts/care` is a test with real GnuPG: the commands that look after a store.
///
/// The comments at the top are those of the everyday transcripts. `$FIXTURES` is the folder of all fixtures.
@Suite("Care transcripts")
struct CareTranscriptTests {
  static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../../fixtures").standardizedFileURL
  static let folder = fixtures.appendingPathComponent("transcripts/care")

  static let names: [String] = {
    // Without the folder there are no tests, and `exist` fails.
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return files.filter { $0.hasSuffix(".txt") }.sorted()
  }()

  @Test("read as they happen", arguments: names)
  func happens(name: String) throws {
    let file = Self.folder.appendingPathComponent(name)
    let text = try String(contentsOf: file, encoding: .utf8)
    let transcript = try Transcript(parsing: text)
    #expect(transcript.text == text, "a transcript is written in its one form")
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
    #expect(difference == "", "\(name), - expected, + happened:\n\(difference)")
  }

  @Test("exist")
  func exist() {
    #expect(Self.names.count >= 10)
  }
}
