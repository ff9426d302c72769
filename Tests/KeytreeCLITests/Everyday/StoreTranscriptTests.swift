import Arguments
import CommandSupport
import Foundation
import KeytreeCLI
import TestSupport
import Testing

/// Each file in `fixtures/transcripts/everyday` is a test with real GnuPG.
///
/// A comment `# keys: alice bob` names the secret keys of `fixtures/gnupg` that the user has; without it, the user has
/// the key of alice. `# public: bob` names keys without their secret half. `# pinentry: cancel`, `passphrase` or
/// `no-terminal` sets the answer when a passphrase is requested. `# needs: libzxcvbn` marks a transcript that is skipped
/// without that library. The store is `<TMP>/store`, the GnuPG home `$GNUPGHOME`.
///
/// A command that fails leaves the store unchanged, byte for byte.
@Suite("Everyday transcripts", .serialized, .waits)
struct StoreTranscriptTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../../fixtures/transcripts/everyday").standardizedFileURL

  static let names: [String] = {
    // Without the folder there are no test cases, and `there are transcripts` fails.
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return files.filter { $0.hasSuffix(".txt") }.sorted()
  }()

  private static let namesNeedingZxcvbn = names.filter { name in
    // A file that cannot be read fails as a test case below.
    let text = try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    return text?.contains("# needs: libzxcvbn\n") == true
  }

  @Test("each transcript matches what happens", arguments: names.filter { !namesNeedingZxcvbn.contains($0) })
  func happens(name: String) throws { try follow(name) }

  @Test(
    "each transcript that needs libzxcvbn matches what happens", .needsZxcvbn, arguments: namesNeedingZxcvbn)
  func happensWithZxcvbn(name: String) throws { try follow(name) }

  private func follow(_ name: String) throws {
    let file = Self.folder.appendingPathComponent(name)
    let text = try String(contentsOf: file, encoding: .utf8)
    let transcript = try Transcript(parsing: text)
    #expect(transcript.text == text, "the file has the canonical form of a transcript")
    let folder = try TemporaryFolder()
    let home = try Self.home(text, in: folder.path)
    defer { home.close() }
    var runner = TranscriptRunner(
      folder: folder.path,
      variables: [
        "GNUPGHOME": home.home, "XDG_RUNTIME_DIR": home.folder + "/run",
        "XDG_STATE_HOME": folder.path + "/state", "KEYTREE_STORE": folder.path + "/store",
      ],
      program: { words, environment, console in
        let path = folder.path + "/store"
        if words.first == "edit" { SignalTestLock.begin() }
        defer { if words.first == "edit" { SignalTestLock.end() } }
        let before = StoreDigest(of: path)
        let code = Program.run(words, environment: environment, console: console)
        let after = StoreDigest(of: path)
        if code != .done, !Self.mayChange(words) {
          #expect(after == before, "\(words) failed and changed \(after.difference(from: before))")
        }
        return code
      })
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
    #expect(Self.names.count >= 20)
    #expect(Self.namesNeedingZxcvbn == ["audit.txt"])
  }

  /// A failed `edit` may have kept the edited secret as another item.
  private static func mayChange(_ words: [Word]) -> Bool { words.first == "edit" }

  /// The GnuPG home that the comments of a transcript describe.
  static func home(_ text: String, in folder: String) throws -> GnuPGHome {
    func words(_ name: String) -> [String]? {
      text.components(separatedBy: "\n").first { $0.hasPrefix("# \(name): ") }
        .map { $0.dropFirst(name.count + 4).components(separatedBy: " ") }
    }
    let keys = (words("keys") ?? ["alice"]).compactMap(GnuPGKey.init(rawValue:))
    let others = (words("public") ?? []).compactMap(GnuPGKey.init(rawValue:))
    var agent: [String] = []
    if let word = words("pinentry")?.first {
      let answer = try #require(Pinentry.Answer(rawValue: String(word)))
      let program = try Pinentry.write(answer, in: folder)
      agent.append("pinentry-program \(program)")
    }
    return try GnuPGHome(secret: keys, public: others, agentConfiguration: agent)
  }
}
