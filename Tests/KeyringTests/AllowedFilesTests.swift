import Keyring
import KeyringModel
import TestSupport
import Testing

@Suite("Files that may be in the history of a store", .serialized) struct AllowedFilesTests {
  private static let fingerprint = String(repeating: "A", count: 40)

  /// Paths of plain files with the reason why they may not be in a store without a policy, or nil if they may.
  static let cases: [(String?, StrayReason?)] = [
    ("policy.json", nil), ("policy.json.asc", nil), (".gitattributes", nil), (".gitignore", nil),
    ("keys/\(fingerprint).asc", nil), ("index/00.jsonl", nil), ("index/ff.jsonl", nil),
    ("items/.gpg-id", nil),
    ("items/internet-password/a.example/me.gpg", nil), ("items/internet-password/a.example/me.json", nil),
    ("items/internet-password/a.example/me/otp.gpg", nil),
    ("items/generic-password/head/git~0123456789.gpg", nil),
    // Programs that read pass stores choose their own names.
    ("items/Email/My Bank.gpg", nil), ("items/x.gpg", nil),
    ("items/internet-password/x (1f2e3d4c).gpg", nil),
    ("conflicts/\(String(repeating: "0", count: 32))/\(String(repeating: "a", count: 64)).gpg", nil),
    (nil, .name), ("", .name), ("index/FF.jsonl", .name), ("index/00.jsonl/x", .name), ("index/x", .name),
    ("index", .name),
    ("keys/x.asc", .name), ("keys/\(fingerprint.lowercased()).asc", .name), ("keys/\(fingerprint)", .name),
    ("items", .name), ("items/x", .name), ("items/x.json", .name), ("items/run.sh", .name),
    ("items/internet-password/x.gpg", .name),
    ("items/a/.gpg-id", .name),
    ("items/a.gpg/x.gpg", .name), ("items/a.json/x.gpg", .name), ("items/.x.gpg", .name),
    ("items/.x/y.gpg", .name),
    ("items/.gpg", .name), ("items/a/../b.gpg", .name), ("conflicts/x.gpg", .name), ("policy.json/x", .name),
    ("Policy.json", .name), ("ITEMS/x.gpg", .name), (".gitattributes/x", .name),
    (".keytree/lock", .own), (".KeyTree/lock", .own), ("local/items/x.gpg", .own), (".keytree", .own),
    ("README.md", .notAllowed), (".envrc", .notAllowed), (".vscode/tasks.json", .notAllowed),
    ("x.gpg", .notAllowed),
    ("keys.asc", .notAllowed),
  ]

  @Test(arguments: cases.indices)
  func `without a policy only the store's own files are allowed`(index: Int) {
    let (path, reason) = Self.cases[index]
    #expect(AllowedFiles(beside: nil).reason(path, mode: "100644") == reason)
  }

  @Test func `only plain files are allowed, whatever their names`() throws {
    let allowed = AllowedFiles(beside: try policy(["run.sh"]))
    for path in ["items/a.gpg", "run.sh"] {
      #expect(allowed.reason(path, mode: "100644") == nil)
      #expect(allowed.reason(path, mode: "100755") == .executable)
      #expect(allowed.reason(path, mode: "120000") == .link)
      #expect(allowed.reason(path, mode: "160000") == .repository)
      #expect(allowed.reason(path, mode: "040000") == .special)
    }
  }

  @Test func `a policy allows files and folders, but no path that belongs to the store`() throws {
    let names = [
      "README.md", "docs/", "a/b.txt", "items/", "index/", "keys/", "local/", ".keytree/", "policy.json/",
      "conflicts/",
    ]
    let allowed = AllowedFiles(beside: try policy(Set(names)))
    for path in ["README.md", "docs/a", "docs/a/b", "a/b.txt"] {
      #expect(allowed.reason(path, mode: "100644") == nil, "\(path)")
    }
    for path in [
      "readme.md", "docs", "docs.txt", "a/b.txt/c", "a/c.txt", "x/README.md", "docs/HEAD", "docs/.git/config",
      "docs/.gitattributes", "items/x", "index/x", "keys/x", "local/x", ".keytree/x", "policy.json/x",
      "conflicts/x",
    ] {
      #expect(allowed.reason(path, mode: "100644") != nil, "\(path)")
    }
    #expect(names.filter(AllowedName.isValid) == ["README.md", "docs/", "a/b.txt"])
  }

  @Test func `the names that a policy cannot allow are those of the layout`() {
    #expect(StoreName.ownFolders == [StoreLayout.local, StoreLayout.work])
    #expect(!AllowedName.isValid("\(StoreLayout.work)/"))
  }

  private func policy(_ files: Set<String>) throws -> Policy {
    Policy(
      keyring: try #require(KeyringID(hex: String(repeating: "0", count: 32))), generation: 1, previous: nil,
      people: [:], groups: [:], files: files)
  }
}
