import KeyringModel
import Testing

@testable import KeytreeCLI

@Suite("Templates", .serialized)
struct SecretTemplateTests {
  static let path = "keytree://generic-password/a/b"

  @Test(
    "a template's references are found, and the rest is unchanged",
    arguments: [
      ("", []), ("{{ \(path) }}", [path]), ("{{\(path)}}{{\t\(path)\t}}", [path, path]),
      ("{{ x }} {{{ }} }}", []),
      ("{{{ \(path) }}", [path]), ("\(path)", []), ("{ { \(path) }}", []), ("{{ \(path)", nil),
      ("{{ \(path)\n}}", nil),
      ("{{ keytree://x }}", nil), ("{{ \(path) x }}", nil), ("{{ keytree:// }}", nil),
    ] as [(String, [String]?)])
  func references(text: String, references: [String]?) {
    let template = try? SecretTemplate(Array(text.utf8))
    #expect(template?.references.map(\.text) == references)
  }

  @Test(
    "text that was meant as a reference and is not one is an error, other templates are left alone",
    arguments: [
      ("{{ keytree:generic-password/a/b }}", true), ("{{keytree.a.b}}", true), ("{{ KEYTREE://a }}", true),
      ("{{ secret \(path) }}", true), ("{{ \"\(path)\" }}", true), ("{{ x | keytree }}", false),
      ("{{ github.com/alice }}", true), ("{{ generic:mailer/bot }}", true), ("{{ x {{ keytree }}", true),
      ("{{ keytree_version }}", false), ("{{ a/b }}", false), ("{{ if: x }}", false),
      ("{{ user.name }}", false),
      ("{{ .Values.token }}\nkeytree://", false), ("{ keytree }", false), ("{{ x }} \(path)", false),
    ])
  func looksLikeReference(text: String, isError: Bool) {
    if isError {
      #expect(throws: SecretTemplate.Problem.looksLikeReference(line: 2)) {
        try SecretTemplate(Array("\n\(text)".utf8))
      }
    } else {
      #expect((try? SecretTemplate(Array(text.utf8)))?.references == [])
    }
  }

  @Test("an error in a template names the line")
  func line() {
    #expect(throws: SecretTemplate.Problem.noReference(line: 3)) {
      try SecretTemplate(Array("{{ \(Self.path) }}\n\n{{ keytree://x }}".utf8))
    }
  }
}
