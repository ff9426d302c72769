import CommandSupport
import Encoding
import Foundation
import KeyringModel
import Secrets
import TestSupport
import Testing
@testable import Interchange
@testable import KeytreeCLI

/// Each file in `fixtures/imports/broken` has one fault, which its name describes.
@Suite("A broken file of another program", .serialized)
struct BrokenImportTests {
  private static let formats: [(prefix: String, command: String, format: ImportFormat?)] = [
    ("1pux-", "1pux", .onePassword), ("bitwarden-", "bitwarden", .bitwarden),
    ("keepass-", "keepass-xml", .keePass), ("netrc-", "netrc", .netrc),
    ("keychain-", "keychain-dump", .keychain), ("json-", "json", nil),
  ]

  static let expected: [String: SourceError] = [
    "1pux-truncated": .archive(.notAnArchive), "1pux-bad-checksum": .archive(.badChecksum),
    "1pux-bomb": .archive(.damaged), "1pux-huge": .archive(.tooLarge(limit: 128 << 20)),
    "1pux-traversal": .archive(.unsafeName), "1pux-absolute": .archive(.unsafeName),
    "1pux-encrypted": .archive(.encrypted), "1pux-method": .archive(.unsupported),
    "1pux-twice": .archive(.duplicateName), "1pux-overlap": .archive(.damaged),
    "1pux-no-data": .otherFormat(expected: "a 1PUX export of 1Password"),
    "1pux-bad-json": .json(.unexpected(line: 1)), "1pux-nul-name": .archive(.unsafeName),
    "bitwarden-empty": .empty, "bitwarden-encrypted": .encrypted, "bitwarden-truncated": .json(.truncated),
    "bitwarden-utf-16": .notUTF8, "bitwarden-latin-1": .notUTF8,
    "bitwarden-other": .otherFormat(expected: "an export of Bitwarden"),
    "bitwarden-array": .otherFormat(expected: "an export of Bitwarden"),
    "bitwarden-nul": .json(.unexpected(line: 1)), "bitwarden-deep": .json(.tooDeep(line: 1)),
    "keepass-empty": .empty, "keepass-bomb": .xml(.documentType(line: 1)),
    "keepass-external-entity": .xml(.documentType(line: 1)), "keepass-doctype": .xml(.documentType(line: 1)),
    "keepass-truncated": .xml(.truncated), "keepass-malformed": .xml(.malformed(line: 1)),
    "keepass-undefined-entity": .xml(.malformed(line: 1)), "keepass-utf-16": .notUTF8,
    "keepass-latin-1": .notUTF8, "keepass-nul": .notUTF8,
    "keepass-other": .otherFormat(expected: "an XML export of KeePass"),
    "keepass-deep": .xml(.tooDeep(line: 1)),
    "netrc-empty": .empty, "netrc-no-value": .line(1, "`password` has no value"),
    "netrc-unclosed": .line(1, "a quoted word has no closing quote"),
    "netrc-unknown-word": .line(1, "a word that is not a keyword"),
    "netrc-before-machine": .line(1, "`login` precedes the first `machine`"),
    "netrc-utf-16": .notUTF8, "netrc-latin-1": .notUTF8, "netrc-nul": .notUTF8,
    "keychain-empty": .empty,
    "keychain-other": .otherFormat(expected: "the output of `security dump-keychain -d`"),
    "keychain-bad-data": .line(5, "expected the data of an item"),
    "keychain-truncated-hex": .line(5, "expected the data of an item"),
    "keychain-utf-16": .notUTF8, "keychain-latin-1": .notUTF8,
    "json-empty": .empty, "json-other": .otherFormat(expected: "an export of keytree"),
    "json-newer": .otherFormat(expected: "an export in a format version that this keytree supports"),
    "json-truncated": .json(.truncated), "json-utf-16": .notUTF8,
  ]

  @Test("a broken file is an error that describes the fault", arguments: expected.keys.sorted())
  func fault(name: String) throws {
    let file = try ImportFormat.file("imports/broken/\(name)")
    let kind = try #require(Self.formats.first { name.hasPrefix($0.prefix) })
    let error = try #require(Self.expected[name])
    #expect(throws: error) {
      if let format = kind.format {
        _ = try format.plan(file)
      } else {
        _ = try KeytreeImport.plan(SecretBytes(copying: file))
      }
    }
  }

  @Test("each file in the folder has an expected error")
  func all() throws {
    let folder = ImportFixtures.folder.appending(path: "imports/broken").path
    let files = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(files.sorted() == Self.expected.keys.sorted())
  }

  @Test("a broken file stores nothing, and the command exits with code 1")
  func command() throws {
    let world = try MaintenanceFixture()
    #expect(world.run("init", "--no-git").code == .done)
    for name in Self.expected.keys.sorted() {
      let kind = try #require(Self.formats.first { name.hasPrefix($0.prefix) })
      let path = ImportFixtures.folder.appending(path: "imports/broken/\(name)").path
      let answer = world.run("import", kind.command, path, "--accept-loss")
      #expect(answer.code == .failure && answer.bytes.isEmpty, "\(name)")
      #expect(
        answer.talk.hasPrefix("keytree: cannot read ") && answer.talk.contains("\nhint: "), "\(answer.talk)")
    }
    #expect(world.run("find").bytes.isEmpty)
  }

  @Test(
    "a truncated file is an error, or all its entries but the last are complete",
    arguments: ImportFormat.allCases)
  func truncated(format: ImportFormat) throws {
    let file = try ImportFormat.file(format.rawValue)
    let whole = try format.plan().items.map { "\($0.source.text) \($0.part.text) \($0.secret.text)" }
    // White space at the end does not belong to a document.
    let end = (file.lastIndex { $0 > 0x20 } ?? 0) + 1
    let step = max(1, end / 200)
    for length in Set(stride(from: 0, to: end, by: step)).union([end - 1]) {
      let draft: ImportDraft
      do {
        draft = try format.plan(Array(file.prefix(length)))
      } catch {
        continue
      }
      let isOfLines = format == .netrc || format == .keychain || format.rawValue.hasPrefix("csv/")
      #expect(isOfLines, "\(length) bytes are no document")
      // A line format has no end marker, so a truncated file can look complete. All entries except the last one are
      // complete.
      let last = draft.items.last?.source
      let before = draft.items.filter { $0.source != last }
        .map { "\($0.source.text) \($0.part.text) \($0.secret.text)" }
      #expect(before == Array(whole.prefix(before.count)), "\(length) bytes")
    }
  }

  @Test("a file that is damaged at any byte does not crash the program", arguments: ImportFormat.allCases)
  func damaged(format: ImportFormat) throws {
    var generator = SplitMix(state: 1)
    let file = try ImportFormat.file(format.rawValue)
    for _ in 0..<200 {
      var damaged = file
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        damaged[Int.random(in: 0..<damaged.count, using: &generator)] = .random(
          in: 0...255, using: &generator)
      }
      _ = try? format.plan(damaged)
    }
  }
}

/// A random number generator that always produces the same sequence.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}
