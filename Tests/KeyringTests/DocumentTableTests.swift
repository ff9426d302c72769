import Foundation
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tests the tables, code, names and links in the documents.
@Suite(.serialized) struct DocumentTableTests {
  @Test func `the table of attributes matches the schema`() throws {
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
    "the tables of primary keys match the schema",
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

  @Test func `the table of limits matches the code`() throws {
    let rows = try MarkdownDocument(MarkdownDocument.format).table("what", "limit")
    #expect(
      rows == [
        ["secret", "\(StoreLayout.secretLimit) bytes"],
        ["encrypted file", "\(StoreLayout.sealedItemLimit) bytes"],
        ["recipients of an item", "\(MessageHeader.recipientLimit)"],
        ["index line, without its line feed", "\(IndexLine.maximumSize) bytes"],
        ["proof, without its line feed", "\(RecordProof.maximumSize) bytes"],
        ["record", "\(RecordFile.maximumSize) bytes"],
        ["signed message", "\(SignedMessage.maximumSize) bytes"],
        ["signed statement", "\(SignedRoot.maximumSize) bytes"],
        ["shard", "\(Shard.maximumSize) bytes"],
        ["attributes of an item", "\(AttributeSchema.maximumCount)"],
        ["value of an attribute", "\(AttributeSchema.maximumValueSize) bytes"],
        ["name of a custom attribute", "\(AttributeSchema.maximumNameSize) bytes"],
        ["name of a field", "\(FieldName.maximumSize) bytes"],
        ["container or account of a path", "\(ReadableComponent.maximumSize) bytes"],
        ["group name", "\(GroupName.maximumSize) bytes"],
        ["policy", "\(Policy.maximumSize) bytes"],
        ["signature of a policy", "\(StoreLayout.signatureLimit) bytes"],
        ["people of a policy", "\(PolicyLimits.people)"],
        ["groups of a policy", "\(PolicyLimits.groups)"],
        ["members of a group, and their subkeys in encryptTo", "\(PolicyLimits.members)"],
        ["subkeys in encryptTo of a person", "\(PolicyLimits.subkeys)"],
        ["name of a person", "\(PolicyLimits.name) bytes"],
        ["key file", "\(StoreLayout.keyFileLimit) bytes"],
        ["all key files of a policy", "\(StoreLayout.keyFilesLimit) bytes"],
        [
          "names of files in a policy",
          "\(AllowedName.maximumCount), each \(AllowedName.maximumSize) bytes",
        ],
        ["file that a policy allows", "\(StoreLayout.otherFileLimit) bytes"],
      ])
  }

  @Test("all Swift code in the documents is compiled", arguments: MarkdownDocument.names)
  func code(_ name: String) throws {
    // The tests write `unsafe` where they pass pointers, unlike most other programs.
    let compiled = try MarkdownDocument.code.flatMap { try MarkdownDocument($0).lines }
      .map { Self.trim($0).replacing("= unsafe ", with: "= ") }
    for block in try MarkdownDocument(name).snippets("swift").map({ $0.map(Self.trim) }) {
      let starts = compiled.indices.dropLast(block.count)
      #expect(starts.contains { compiled[$0...].starts(with: block) }, "\(block)")
    }
  }

  @Test func `the Swift code in the documents works as described`() throws {
    let store = GnuPGStore(try GnuPGHome(secret: [.alice]))
    let keyring = try store.create()
    try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "open sesame"))
    try keyring.add(.login("mail.example.org", "alice"), secret: SecretBytes(text: "s"))
    try DocumentedCode.readAnItem(store: store.path, host: store.host)
    try DocumentedCode.keepTheIndex(store: store.path, of: store.host)
    try DocumentedCode.addAnItem(keyring, token: SecretBytes(text: "token"))
    try DocumentedCode.changeTwoItems(keyring, .login("mailer.example", "bot"))
    try DocumentedCode.query(keyring, lastYear: Timestamp(microseconds: 0))
    #expect(try keyring.find(Query()).items.count == 4)
    #expect(throws: KeyringError.noStore(path: "/nonexistent/.local/share/keytree")) {
      try DocumentedCode.makeAContext(home: "/nonexistent")
    }
  }

  @Test(
    "the packages in the articles are complete; `.ci/dependent` builds and runs them",
    arguments: [
      ("SwiftProgram", "Keyring"), ("TypedPasswords", "KeychainPasswords"),
      ("YourIOSCodeOnLinux", "Security"),
    ])
  func packages(_ article: String, _ product: String) throws {
    let files = try MarkdownDocument("Sources/Keyring/Keyring.docc/\(article).md").files
    let manifest = try #require(files.first { $0.path.hasSuffix("/Package.swift") })
    let folder = manifest.path.dropLast("/Package.swift".count)
    #expect(manifest.lines.contains { $0.contains(".product(name: \"\(product)\", package: \"keytree\")") })
    let program = files.first { $0.path == "\(folder)/Sources/\(folder)/main.swift" }
    #expect(program?.lines.contains("import \(product)") == true)
    let script = try MarkdownDocument(".ci/dependent").lines
    #expect(script.contains { $0.hasPrefix("\(article) ") })
  }

  @Test func `a context from the environment has the folders of the command`() throws {
    let host = try #require(HostContext(environment: ["HOME": "/home/me", "GNUPGHOME": "", "PATH": "/bin"]))
    #expect(host.engineBase == "/home/me/.cache/keytree" && host.stateBase == "/home/me/.local/state/keytree")
    #expect(host.gnupgHome == nil && host.searchPath == "/bin" && host.clock() > Timestamp(microseconds: 0))
    let variables = ["XDG_RUNTIME_DIR": "/run/me", "XDG_STATE_HOME": "/state", "GNUPGHOME": "/g"]
    let other = try #require(HostContext(environment: variables))
    #expect(
      other.engineBase == "/run/me/keytree" && other.stateBase == "/state/keytree" && other.gnupgHome == "/g")
    #expect(HostContext(environment: ["XDG_RUNTIME_DIR": "/run/me"]) == nil)
    #expect(HostContext(environment: ["HOME": "home"]) == nil)
  }

  @Test(
    "the page about parity has every key of a query",
    arguments: ["Class", "Match", "Return", "Value", "Use"])
  func parity(_ kind: String) throws {
    let page = try MarkdownDocument("Sources/Keyring/Keyring.docc/SecItemParity.md").lines.joined(
      separator: "\n")
    let facts = try MarkdownDocument("fixtures/secitem/constants.tsv").lines
    // Names of values, not of keys.
    let values = ["kSecMatchLimitOne", "kSecMatchLimitAll", "Allow", "Fail", "Skip"]
    let keys = facts.compactMap { $0.split(separator: "\t").first.map(String.init) }
      .filter { key in key.hasPrefix("kSec\(kind)") && !values.contains { key.hasSuffix($0) } }
    #expect(keys.count >= 3)
    for key in keys where key != "kSecClass" { #expect(page.contains("`\(key)`"), "\(key)") }
  }

  @Test func `the page about parity says for every row whether it is the same`() throws {
    let page = try MarkdownDocument("Sources/Keyring/Keyring.docc/SecItemParity.md")
    var count = 0
    for head in ["function", "class", "attribute", "key", "case", "flag"] {
      for (index, line) in page.lines.enumerated() where line.hasPrefix("| \(head) | |") {
        for row in page.lines[(index + 2)...].prefix(while: { $0.hasPrefix("|") }) {
          let cells = row.split(separator: "|").map { Self.trim(String($0)) }
          #expect(["same", "differs", "refused"].contains(cells[1]), "\(row)")
          count += 1
        }
      }
    }
    #expect(count > 50)
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

  @Test("links in the documents lead to existing files", arguments: MarkdownDocument.names)
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
