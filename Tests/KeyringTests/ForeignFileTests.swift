import Keyring
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tests files below `items` that other programs have added or changed.
@Suite(.serialized) struct ForeignFileTests {
  private let store = StandInStore()
  private let keyring: Keyring

  init() throws { keyring = try store.create() }

  private func message(_ text: String, to readers: [Fingerprint]? = nil) throws -> [UInt8] {
    let secret = SecretBytes(text: text)
    return try store.engine.seal(secret, to: readers ?? [store.owner])
  }

  private func add(_ server: String = "a.example", _ secret: String = "old") throws -> ItemRecord {
    let bytes = SecretBytes(text: secret)
    return try keyring.add(.login(server, "me"), secret: bytes)
  }

  private func slice(_ text: String) -> SecretSlice { SecretSlice(SecretBytes(text: text)) }

  static let names = [
    "items/github.com/alice.gpg", "items/web/Some Site.gpg", "items/x.gpg",
    "items/generic-password/My Wifi/home.gpg", "items/generic-password/wifi (1f2e3d4c).gpg",
    "items/internet-password/a.example/Some One.gpg", "items/internet-password/a.example/me.gpg",
    "items/internet-password/a.example/sub/deep/x.gpg", "items/Größe/ü.gpg", "items/-rf/--output.gpg",
  ]

  @Test(arguments: names)
  func `a new file is listed, is not an item, and stays through a repair`(path: String) throws {
    let bytes = try message("claim")
    try store.put(bytes, at: path)
    let files = try keyring.foreignFiles()
    #expect(files.map(\.path) == [path] && files.map(\.kind) == [.added])
    #expect(try keyring.check().findings == [Finding(path, .notAdopted)])
    #expect(try keyring.repair().findings == [Finding(path, .notAdopted)])
    #expect(try store.bytes(path) == bytes)
    #expect(try keyring.find(Query()).items.isEmpty)
    #expect(store.engine.statistics.decryptions == 0)
  }

  @Test(arguments: [
    "items/.hidden/x.gpg", "items/.x.gpg", "items/a/.git/x.gpg", "items/a/HEAD", "items/a/x.sh",
    "items/a.gpg/x.gpg", "items/generic-password/wifi.gpg",
    "items/a/.gpg-id", "items/a/x\u{202E}y.gpg", "items/a/x\ny.gpg", "items/a/git~1/x.gpg",
    "local/items/a/x.gpg",
    "items/a.json/x.gpg", "items/a\\b.gpg",
  ])
  func `a file with another name is a stray`(path: String) throws {
    try store.put(try message("claim"), at: path)
    #expect(try keyring.foreignFiles().isEmpty)
    let findings = try keyring.check().findings
    // In the folder of a class, a container can have the name.
    let reason = path == "items/generic-password/wifi.gpg" ? StrayReason.file : .name
    #expect(findings.count == 1 && findings[0].kind == .stray(reason), "\(findings)")
    #expect(try keyring.repair().findings.isEmpty)
  }

  @Test func `a link is never a file of another program`() throws {
    try store.put(try message("claim"), at: "items/a/x.gpg")
    _ = try store.tree().link("items/a/x.gpg", to: "items/a/y.gpg")
    #expect(throws: Never.self) { _ = try keyring.foreignFiles() }
    #expect(try keyring.foreignFiles().isEmpty)
  }

  @Test func `a changed file is a change, and the item is not released`() throws {
    let item = try add()
    try store.put(try message("new"), at: store.secretFile(item))
    let files = try keyring.foreignFiles()
    #expect(files.map(\.kind) == [.changed(item)] && files.map(\.path) == [store.secretFile(item)])
    #expect(throws: KeyringError.itemDamaged(item.reference, .notAsRecorded)) {
      _ = try keyring.text(of: item)
    }
    #expect(throws: KeyringError.itemDamaged(item.reference, .notAsRecorded)) {
      try keyring.update(item, AttributeChanges(set: [.comment: "x"]))
    }
    let named = try keyring.namingChanges(in: keyring.check().findings)
    #expect(named == [Finding(store.secretFile(item), .changed(recorded: item.secretModified, found: nil))])
    #expect(store.engine.statistics.decryptions == 0)
  }

  @Test func `a copy that is damaged at any place is not a new encryption`() throws {
    let original = try message("secret") + [UInt8](repeating: 7, count: 200)
    for offset in original.indices {
      var damaged = original
      damaged[offset] ^= 0x20
      #expect(Keyring.isDamagedCopy(damaged, of: original), "\(offset)")
    }
    #expect(Keyring.isDamagedCopy(Array(original.prefix(100)), of: original))
    #expect(Keyring.isDamagedCopy(Array(original.dropFirst(100)), of: original))
    let other = original.map { $0 ^ 1 }
    #expect(!Keyring.isDamagedCopy(other, of: original))
  }

  @Test func `the file of another item, bytes that are no message, and a huge file are damage`() throws {
    let (item, other) = (try add(), try add("b.example", "other"))
    let swapped = try #require(try store.bytes(store.secretFile(other)))
    for bytes in [
      swapped, Array("text".utf8), [], [UInt8](repeating: 1, count: StoreLayout.sealedItemLimit + 1),
    ] {
      try store.put(bytes, at: store.secretFile(item))
      #expect(try keyring.foreignFiles().isEmpty, "\(bytes.count)")
      let findings = try keyring.check().findings
      #expect(findings.count == 1 && !findings[0].kind.isAdoptable, "\(findings)")
      #expect(try keyring.namingChanges(in: findings) == findings)
    }
  }

  @Test func `a change of a record that no member has signed is not a change of another program`() throws {
    let item = try add()
    var forged = item
    forged.attributes[.label] = "forged"
    let file = try store.sign([forged], by: EngineDouble.fingerprint(9), for: keyring.policy.keyring)[0]
    try store.put(file.bytes, at: store.recordFile(item))
    try store.putLine(forged)
    try store.put(try message("new"), at: store.secretFile(item))
    #expect(try keyring.foreignFiles().isEmpty)
  }

  @Test(arguments: names)
  func `an adopted file becomes an item that the user has signed, and is gone`(path: String) throws {
    try store.put(try message("secret"), at: path)
    let file = try #require(try keyring.foreignFiles().first)
    var note = NewItem.login("a.example", "me")
    note.attributes[.field] = "note"
    let outcomes = try keyring.adopt([
      Adoption(
        file,
        .login([
          Adoption.Part(.login("a.example", "me"), secret: slice("secret")),
          Adoption.Part(note, secret: slice("note")),
        ]))
    ])
    guard case .adopted(let records) = outcomes[0] else {
      Issue.record("\(outcomes)")
      return
    }
    #expect(try records.map { try keyring.text(of: $0) } == ["secret", "note"])
    #expect(try keyring.foreignFiles().isEmpty)
    #expect(try keyring.check(decrypts: true).findings.isEmpty)
    let own = store.secretFile(records[0])
    #expect(try path == own || store.bytes(path) == nil)
  }

  @Test func `a file that changes after the question is not adopted`() throws {
    let item = try add()
    let paths = ["items/x.gpg", store.secretFile(item)]
    for path in paths { try store.put(try message("one"), at: path) }
    let files = try keyring.foreignFiles()
    #expect(files.count == 2)
    for path in paths { try store.put(try message("two"), at: path) }
    let outcomes = try keyring.adopt(
      files.map { file in
        Adoption(
          file,
          file.item == nil
            ? .login([Adoption.Part(.login("x.example", "me"), secret: slice("one"))]) : .secret(slice("one"))
        )
      })
    #expect(outcomes == [.changedSince, .changedSince])
    #expect(try keyring.foreignFiles().count == 2)
    #expect(try keyring.find(Query()).items == [item])
  }

  @Test func `a file cannot take the place of an item that was added concurrently`() throws {
    try store.put(try message("claim"), at: "items/a.example/me.gpg")
    let file = try #require(try keyring.foreignFiles().first)
    let item = try add()
    let part = Adoption.Part(.login("a.example", "me"), secret: slice("claim"))
    #expect(try keyring.adopt([Adoption(file, .login([part]))]) == [.exists(item.reference)])
    #expect(try keyring.text(of: item) == "old" && store.bytes(file.path) != nil)
  }

  @Test func `an accepted change is a new revision, encrypted for the group of the item`() throws {
    let bob = EngineDouble.fingerprint(2)
    try store.join(bob, "ops")
    let keyring = try store.open()
    var login = NewItem.login("a.example", "me")
    login.group = "ops"
    let secret = SecretBytes(text: "old")
    let item = try keyring.add(login, secret: secret)
    // The other program encrypts to one recipient only.
    try store.put(try message("new"), at: store.secretFile(item))
    let file = try #require(try keyring.foreignFiles().first)
    let outcomes = try keyring.adopt([Adoption(file, .secret(slice("new")))])
    guard case .adopted(let records) = outcomes[0], let record = records.first else {
      Issue.record("\(outcomes)")
      return
    }
    #expect(
      record.revision != item.revision && record.id == item.id && record.secretModified > item.secretModified)
    #expect(try keyring.text(of: record) == "new")
    let bytes = try #require(try store.bytes(store.secretFile(record)))
    let recipients = unsafe try bytes.withUnsafeBytes { unsafe try store.engine.recipients(of: $0) }
    #expect(recipients.count == 2)
    #expect(try keyring.check(decrypts: true).findings.isEmpty)
    // The quarantine is for files that are all that is left of an item.
    #expect(try !store.tree().list(".keytree").contains { $0.hasPrefix("quarantine") })
  }

  @Test func `an undo restores the old file, and only that one`() throws {
    let item = try add()
    let path = store.secretFile(item)
    let old = try #require(try store.bytes(path))
    try store.put(try message("new"), at: path)
    try store.put(try message("claim"), at: "items/web/x.gpg")
    let files = try keyring.foreignFiles()
    #expect(try keyring.undo(files.filter { $0.item != nil }, originals: [path: Array("wrong".utf8)]).isEmpty)
    let undone = try keyring.undo(files, originals: [path: old])
    #expect(undone.count == 2 && undone[path] == .restored)
    guard case .quarantined(let place)? = undone["items/web/x.gpg"] else {
      Issue.record("\(undone)")
      return
    }
    #expect(place.hasSuffix("/items/web/x.gpg"))
    #expect(try store.bytes(place) != nil)
    #expect(try keyring.text(of: item) == "old" && keyring.foreignFiles().isEmpty)
    #expect(try keyring.check().findings.isEmpty)
    let quarantine = try #require(try store.tree().list(".keytree").first { $0.hasPrefix("quarantine") })
    #expect(try store.bytes(".keytree/\(quarantine)/items/web/x.gpg") != nil)
  }

  /// Puts a message at the second path of an item's file.
  private func putSecond(_ item: ItemRecord, _ message: [UInt8]) throws -> String {
    let path = SecondPath.of(store.secretFile(item), ContentDigest(of: message))
    try store.put(message, at: path)
    return path
  }

  @Test func `a change that is kept beside an item does not disturb it, and is accepted as its secret`()
    throws
  {
    let item = try add()
    let path = try putSecond(item, try message("new"))
    let files = try keyring.foreignFiles()
    #expect(files.map(\.path) == [path] && files.map(\.kind) == [.kept(item)])
    #expect(try keyring.text(of: item) == "old")
    #expect(try keyring.check().findings == [Finding(path, .notAdopted)])
    let outcomes = try keyring.adopt([Adoption(files[0], .secret(slice("new")))])
    guard case .adopted(let records) = outcomes[0], let record = records.first else {
      Issue.record("\(outcomes)")
      return
    }
    #expect(record.id == item.id && record.revision != item.revision)
    #expect(try keyring.text(of: record) == "new" && keyring.foreignFiles().isEmpty)
    #expect(try keyring.check(decrypts: true).findings.isEmpty)
  }

  @Test func `a kept change of an item that has changed since is not accepted`() throws {
    let item = try add()
    let path = try putSecond(item, try message("new"))
    let files = try keyring.foreignFiles()
    let newer = SecretBytes(text: "newer")
    try keyring.update(item, secret: newer)
    #expect(try keyring.adopt([Adoption(files[0], .secret(slice("new")))]) == [.changedSince])
    #expect(try store.bytes(path) != nil)
    // The same applies if another program has changed the file of the item, too.
    let again = try #require(try keyring.foreignFiles().first)
    try store.put(try message("work tree"), at: store.secretFile(item))
    #expect(try keyring.adopt([Adoption(again, .secret(slice("new")))]) == [.changedSince])
  }

  @Test func `a file with the digits of another content, or without an item, is a new file`() throws {
    let item = try add()
    let path = SecondPath.of(store.secretFile(item), ContentDigest(of: Array("other".utf8)))
    try store.put(try message("new"), at: path)
    #expect(try keyring.foreignFiles().map(\.kind) == [.added])
    try keyring.delete([item])
    let other = try putSecond(item, try message("new"))
    #expect(try keyring.foreignFiles().map(\.kind) == [.added, .added])
    #expect(other != path)
  }

  @Test func `an undo moves a kept change to the quarantine`() throws {
    let item = try add()
    let path = try putSecond(item, try message("new"))
    #expect(try Set(keyring.undo(keyring.foreignFiles(), originals: [:]).keys) == [path])
    #expect(try keyring.text(of: item) == "old" && keyring.foreignFiles().isEmpty)
    let quarantine = try #require(try store.tree().list(".keytree").first { $0.hasPrefix("quarantine") })
    #expect(try store.bytes(".keytree/\(quarantine)/\(path)") != nil)
  }

  @Test func `a changed file is separated from its item, and nothing is lost`() throws {
    let item = try add()
    let path = store.secretFile(item)
    let old = try #require(try store.bytes(path))
    let new = try message("new")
    try store.put(new, at: path)
    let files = try keyring.foreignFiles()
    #expect(try keyring.separate(files, originals: [path: Array("wrong".utf8)]).isEmpty)
    #expect(try store.bytes(path) == new)
    #expect(try keyring.separate(files, originals: [path: old]) == [path])
    #expect(try keyring.text(of: item) == "old")
    let kept = try #require(try keyring.foreignFiles().first)
    #expect(try kept.kind == .kept(item) && store.bytes(kept.path) == new)
  }

  @Test(arguments: [
    "items/internet-password/a.example/me.gpg", "items/x.gpg", "items/web/Some Site.gpg", "items/Größe/ü.gpg",
  ])
  func `a second path leads back to the first`(path: String) {
    let digest = ContentDigest(of: [1])
    let second = SecondPath.of(path, digest)
    #expect(SecondPath.first(of: second, digest) == path && SecondPath.relates(path, second, digest))
    #expect(StoreLayout.isForeignFile(second))
    #expect(SecondPath.first(of: second, ContentDigest(of: [2])) == nil)
    #expect(SecondPath.first(of: path, digest) == nil && !SecondPath.relates(path, path, digest))
  }

  @Test func `a second path of a long name is not longer than a file name can be`() {
    let second = SecondPath.of("items/web/\(String(repeating: "é", count: 125)).gpg", ContentDigest(of: [1]))
    #expect(second.utf8.count <= "items/web/".utf8.count + 255)
  }
}
