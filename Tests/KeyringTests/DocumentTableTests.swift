import Foundation
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tables, code, names and links in the documents.
@Suite struct DocumentTableTests {
  @Test func `the table of attributes is the schema`() throws {
    let rows = try MarkdownDocument(MarkdownDocument.format).table("name", "type", "classes")
    var expected: [[String]] = []
    let names = Set(ItemClass.allCases.flatMap(AttributeSchema.names)).sorted()
    for name in names {
      let classes = ItemClass.allCases.filter { AttributeSchema.applies(name, to: $0) }.map(\.rawValue)
      let list = classes.count == ItemClass.allCases.count ? "all" : classes.joined(separator: ", ")
      expected.append([name.text, AttributeSchema.kind(of: name)?.rawValue ?? "", list])
    }
    #expect(rows == expected)
  }

  @Test(
    "the tables of primary keys are the schema",
    arguments: [MarkdownDocument.format, "Sources/Keyring/Keyring.docc/Queries.md"])
  func primaryKeys(_ article: String) throws {
    let rows = try MarkdownDocument(article).table("class", "attributes")
    #expect(
      rows
        == ItemClass.allCases.map { itemClass in
          let names = AttributeSchema.primaryKey(of: itemClass).map(\.text)
          return [itemClass.rawValue, names.joined(separator: ", ")]
        })
  }

  @Test func `the table of limits is what the code keeps`() throws {
    let rows = try MarkdownDocument(MarkdownDocument.format).table("what", "limit")
    #expect(
      rows == [
        ["secret", "\(StoreLayout.secretLimit) bytes"],
        ["sealed item", "\(StoreLayout.sealedItemLimit) bytes"],
        ["recipients of an item", "\(MessageHeader.recipientLimit)"],
        ["index line, without its line feed", "\(IndexLine.maximumSize) bytes"],
        ["header, without its line feed", "\(ItemHeader.maximumSize) bytes"],
        ["shard", "\(Shard.maximumSize) bytes"],
        ["attributes of an item", "\(AttributeSchema.maximumCount)"],
        ["value of an attribute", "\(AttributeSchema.maximumValueSize) bytes"],
        ["name of a custom attribute", "\(AttributeSchema.maximumNameSize) bytes"],
        ["container or name of a path", "\(ItemPath.maximumComponentSize) bytes"],
        ["group name", "\(GroupName.maximumSize) bytes"],
        ["policy", "\(Policy.maximumSize) bytes"],
      ])
  }

  @Test("all Swift in the documents is compiled", arguments: MarkdownDocument.names)
  func code(_ name: String) throws {
    let compiled = try MarkdownDocument.code.flatMap { try MarkdownDocument($0).lines }.map(Self.trim)
    for block in try MarkdownDocument(name).blocks("swift").map({ $0.map(Self.trim) }) {
      let starts = compiled.indices.dropLast(block.count)
      #expect(starts.contains { compiled[$0...].starts(with: block) }, "\(block)")
    }
  }

  @Test func `the Swift in the documents does what they say`() throws {
    let store = GnuPGStore(try GnuPGHome(secret: [.alice]))
    let keyring = try store.create()
    try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "open sesame"))
    try keyring.add(.login("mail.example.org", "alice"), secret: SecretBytes(text: "s"))
    try DocumentedCode.readAnItem(store: store.path, host: store.host)
    try DocumentedCode.keepTheIndex(store: store.path, of: store.host)
    try DocumentedCode.addAnItem(keyring, token: Array("token".utf8))
    try DocumentedCode.changeTwoItems(keyring, .login("mailer.example", "bot"))
    try DocumentedCode.query(keyring, lastYear: Timestamp(microseconds: 0))
    #expect(try keyring.find(Query()).items.count == 4)
    #expect(throws: KeyringError.noStore(path: "/nonexistent/.local/share/keytree")) {
      try DocumentedCode.makeAContext(home: "/nonexistent", now: { Timestamp(microseconds: 0) })
    }
  }

  @Test func `every test that the threat model names exists`() throws {
    let text = try MarkdownDocument("Sources/Keyring/Keyring.docc/ThreatModel.md").lines
      .joined(separator: " ")
    let references = text.matches(of: /`(\w+)\/([\w\/]+)`: "([^"]+)"/)
    #expect(references.count >= 25)
    for reference in references {
      let (_, target, suite, name) = reference.output
      let lines = try MarkdownDocument("Tests/\(target)/\(suite).swift").lines
      let isThere = lines.contains { $0.contains("`\(name)`") || $0.contains("\"\(name)\"") }
      #expect(isThere, "\(target)/\(suite): \(name)")
    }
  }

  @Test("links in the documents lead to files", arguments: MarkdownDocument.names)
  func links(_ name: String) throws {
    let document = try MarkdownDocument(name)
    let folder = MarkdownDocument.root.appendingPathComponent(name).deletingLastPathComponent()
    let text = document.lines.joined(separator: "\n")
    for link in text.matches(of: /\]\((?!https:)([^)]+)\)/) {
      let path = folder.appendingPathComponent(String(link.output.1)).path
      #expect(FileManager.default.fileExists(atPath: path), "\(path)")
    }
    for link in text.matches(of: /<doc:(\w+)>/) {
      #expect(MarkdownDocument.articles.contains("Sources/Keyring/Keyring.docc/\(link.output.1).md"))
    }
  }

  private static func trim(_ line: String) -> String { line.trimmingCharacters(in: .whitespaces) }
}
