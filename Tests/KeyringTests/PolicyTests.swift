import FileSystem
import Glibc
import Keyring
import KeyringModel
import Secrets
import Testing
import TestSupport

/// Tests the policy in the store against the one that this machine has accepted.
@Suite(.serialized) struct PolicyTests {
  @Test func `a policy edited by hand stops every write, and reading continues with the accepted one`() throws
  {
    let store = StandInStore()
    let record = try store.create().add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    let tree = try store.tree()
    let bytes = try #require(try tree.read("policy.json", limit: 1 << 20))
    let stranger = EngineDouble.fingerprint(7)
    let text = String(decoding: bytes, as: UTF8.self)
    let edited = text.replacing(
      #""default":["\#(store.owner.text)"]"#, with: #""default":["\#(stranger.text)"]"#)
    for variant in [
      text.replacing("Alice", with: "Mallory"), edited, text + " ", text.replacing(":1,", with: ":2,"),
    ] {
      #expect(variant != text, "the variant differs")
      try tree.replaceFile("policy.json", with: Array(variant.utf8), temporary: "tmp")
      let attempts: [() throws -> Void] = [
        { try store.open().add(.login("b.example", "me"), secret: SecretBytes(text: "s")) },
        { try store.open().update(record, secret: SecretBytes(text: "t")) },
        { try store.open().delete([record]) },
        { _ = try store.open().repair() },
      ]
      for attempt in attempts {
        #expect {
          try attempt()
        } throws: { error in
          guard case KeyringError.policyNotTrusted = error else { return false }
          return true
        }
      }
    }
    try tree.replaceFile(
      "policy.json", with: Array(text.replacing("Alice", with: "Mallory").utf8), temporary: "tmp")
    let keyring = try store.open()
    #expect(keyring.distrust == .changed(generation: 1, pinned: 1))
    #expect(try keyring.text(of: record) == "s")
    #expect(try !keyring.check().isClean)
  }

  @Test func `a policy with a second name outside .keytree is refused`() throws {
    let store = StandInStore()
    try store.create()
    #expect(try store.tree().link(StoreLayout.policy, to: "other.json"))
    #expect(throws: KeyringError.file(FileError("open", StoreLayout.policy, .hasOtherNames))) {
      try store.open()
    }
  }

  @Test func `a policy that changes while a keyring is open stops its next write`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let tree = try store.tree()
    let bytes = try #require(try tree.read("policy.json", limit: 1 << 20))
    let edited = String(decoding: bytes, as: UTF8.self).replacing("Alice", with: "Mallory")
    try tree.replaceFile("policy.json", with: Array(edited.utf8), temporary: "tmp")
    #expect(throws: KeyringError.self) {
      try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    }
    #expect(try keyring.find(Query()).items.isEmpty)
  }

  @Test func `without a pin only attributes can be read`() throws {
    let store = StandInStore()
    try store.create().add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    ScratchFolder.remove("\(store.folder.path)/state")
    #expect { try store.open() } throws: { error in
      guard case KeyringError.policyNotTrusted(.notPinned) = error else { return false }
      return true
    }
    #expect(try Index.open(at: store.path, host: store.host).find(Query()).items.count == 1)
  }

  @Test("a folder that others can change is refused", arguments: [0o770, 0o702, 0o777] as [UInt32])
  func unsafeFolder(_ mode: UInt32) throws {
    let store = StandInStore()
    try store.create()
    unsafe chmod(store.path, mode)
    defer { unsafe chmod(store.path, 0o700) }
    #expect { try store.open() } throws: { error in
      guard case KeyringError.unsafeFolder(_, .writableByOthers) = error else { return false }
      return true
    }
    unsafe chmod(store.path, 0o700)
    unsafe chmod(store.folder.path, mode)
    defer { unsafe chmod(store.folder.path, 0o700) }
    #expect(throws: KeyringError.self) { try store.open() }
  }

  @Test(
    "a part of the store that others can change is refused", arguments: ["items", "index", "policy.json"])
  func unsafeParts(_ name: String) throws {
    let store = StandInStore()
    try store.create().add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    unsafe chmod("\(store.path)/\(name)", 0o777)
    unsafe chmod(store.path, 0o755)
    #expect(throws: KeyringError.unsafeFolder(path: "\(store.path)/\(name)", .writableByOthers)) {
      try store.open()
    }
    // If nobody else may enter the folder, nobody else can write to it.
    unsafe chmod(store.path, 0o700)
    #expect(try store.open().find(Query()).items.count == 1)
  }

  @Test func `a store without its index is reported, and not treated as empty`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    #expect(try !keyring.find(Query()).isIndexLost)
    try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    #expect(try !keyring.find(Query(text: "nowhere")).isIndexLost)
    ScratchFolder.remove("\(store.path)/index")
    #expect(try keyring.find(Query()).isIndexLost)
  }

  @Test func `empty folders that a writer has created do not count as items without an index`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    try store.tree().makeDirectory("items/generic-password/mailer")
    #expect(try !keyring.find(Query()).isIndexLost)
    #expect(try !store.openKept().find(Query()).isIndexLost)
  }

  @Test func `a store is created once, and not in a folder with other files`() throws {
    let store = StandInStore()
    try store.create()
    #expect { try store.create() } throws: { error in
      guard case KeyringError.storeExists = error else { return false }
      return true
    }
    let other = StandInStore()
    #expect(unsafe mkdir(other.path, 0o700) == 0)
    try FileTree(at: other.path).createFile("letter.txt", [1])
    #expect { try other.create() } throws: { error in
      guard case KeyringError.folderNotEmpty = error else { return false }
      return true
    }
    #expect(throws: KeyringError.self) { try StandInStore().open() }
  }
}
