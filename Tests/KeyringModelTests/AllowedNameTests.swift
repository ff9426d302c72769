import Encoding
import KeyringModel
import Testing

@Suite("Names of allowed files", .serialized) struct AllowedNameTests {
  static let good = [
    "README.md", "LICENSE", ".github/workflows/verify.yml", ".gitlab-ci.yml", "docs/", "a/b/c/",
    ".editorconfig",
    "Öl.txt", "head.txt", "HEAD/x", "git~12345", String(repeating: "a", count: 255),
  ]

  static let bad = [
    "", "/", "/a", "a//b", "./a", "a/../b", "..", "a/.", ".git", ".git/config", ".GIT/config", "a/.Git/x",
    ".git./x",
    ".git /x", ".git::$INDEX_ALLOCATION/x", "git~1", "GIT~1/config", ".gitmodules", ".GitModules",
    "a/.gitattributes",
    "HEAD", "docs/HEAD", "docs/head", "a\nb", "a\u{0}", "a\u{1B}[2J", "a\u{7F}", "a\u{9B}", "a\u{202E}b",
    ".g\u{200C}it",
    "a\u{2028}", "a\\b", String(repeating: "a", count: 256), String(repeating: "a/", count: 501),
  ]

  @Test(arguments: good)
  func `a plain path can be allowed`(name: String) { #expect(AllowedName.isValid(name)) }

  @Test(arguments: bad)
  func `a name that git, a terminal or another file system could misread is refused`(name: String) {
    #expect(!AllowedName.isValid(name))
  }

  static let reserved = [
    "policy.json", "Policy.JSON", "policy.json/x", "policy.json.asc", "items/", "ITEMS/x", "items./x",
    "items:x/", "index/", "keys/A.asc", "conflicts/", "local/", ".keytree/x", ".gitattributes", ".gitignore",
  ]

  @Test(arguments: reserved)
  func `a name of the store itself cannot be allowed, and no signed policy lists one`(name: String) throws {
    #expect(!AllowedName.isValid(name))
    let person = try #require(Fingerprint(String(repeating: "A", count: 40)))
    let keyring = try #require(KeyringID(hex: String(repeating: "0", count: 32)))
    let policy = Policy(
      keyring: keyring, generation: 1, previous: nil,
      people: [
        person: Person(name: "A", role: .admin, added: Timestamp(microseconds: 0), encryptTo: [person])
      ],
      groups: ["default": [person]], files: [name])
    #expect(throws: PolicyError.badFileName(name)) { try Policy.parse(policy.encode()) }
  }

  @Test func `a policy keeps its names, and edits change them`() throws {
    let person = try #require(Fingerprint(String(repeating: "A", count: 40)))
    let keyring = try #require(KeyringID(hex: String(repeating: "0", count: 32)))
    let policy = Policy(
      keyring: keyring, generation: 1, previous: nil,
      people: [
        person: Person(name: "A", role: .admin, added: Timestamp(microseconds: 0), encryptTo: [person])
      ],
      groups: ["default": [person]], files: ["b", "a/"])
    #expect(String(decoding: policy.encode(), as: UTF8.self).contains("\"files\":[\"a/\",\"b\"]"))
    #expect(try Policy.parse(policy.encode()) == policy)
    let digest = ContentDigest(of: policy.encode())
    let next = try policy.successor(
      by: [.allow(file: "c"), .disallow(file: "b"), .disallow(file: "none")], previous: digest, at: .latest)
    #expect(next.files == ["a/", "c"])
    #expect(next.edits(since: policy) == [.disallow(file: "b"), .allow(file: "c")])
    #expect(throws: PolicyError.badFileName(".git")) {
      try policy.successor(by: [.allow(file: ".git")], previous: digest, at: .latest)
    }
  }
}
