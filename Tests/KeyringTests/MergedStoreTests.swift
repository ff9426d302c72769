import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

/// What a merge by plain git, or a backup that was put back in parts, can leave.
@Suite struct MergedStoreTests {
  private let store = StandInStore()
  private let keyring: Keyring
  private let record: ItemRecord

  init() throws {
    keyring = try store.create()
    record = try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "first"))
  }

  private static func account(_ name: String) -> AttributeChanges {
    var set = Attributes()
    set[.account] = .string(name)
    return AttributeChanges(set: set)
  }

  private static func label(_ text: String) -> Attributes {
    var set = Attributes()
    set[.label] = .string(text)
    return set
  }

  private func shard(_ record: ItemRecord) -> String {
    StoreLayout.shardFile(record.path.shard, isLocal: false)
  }

  private func file(_ record: ItemRecord) -> String { StoreLayout.itemFile(record.path, isLocal: false) }

  @Test func `a second line for an item stops changes of it with the reason`() throws {
    let tree = try store.tree()
    var stale = record
    stale.attributes[.label] = "stale"
    stale.sealed = ContentDigest(of: [])
    let lines = try IndexLine.encode(stale) + [10] + IndexLine.encode(record) + [10]
    try tree.replaceFile(shard(record), with: lines, temporary: "tmp")
    let count = keyring.engineStatistics.decryptions
    for attempt in [
      { try keyring.update(record, secret: SecretBytes(text: "new")) },
      { try keyring.update(record, Self.account("other")) },
    ] {
      #expect {
        _ = try attempt()
      } throws: { error in
        guard case KeyringError.shardDamaged(shard(record), _) = error else { return false }
        return true
      }
    }
    // Worked out once, not as long as attempts last.
    #expect(keyring.engineStatistics.decryptions - count <= 1)
    #expect(try keyring.text(of: record) == "first")
  }

  @Test func `two items that grew from one are both found, and check tells`() throws {
    let tree = try store.tree()
    let oldLine = try #require(try tree.read(shard(record), limit: 1 << 20))
    let oldFile = try #require(try tree.read(file(record), limit: 1 << 20))
    let renamed = try keyring.update(record, Self.account("you"))
    #expect(renamed.path.shard != record.path.shard)
    let moved = try keyring.update(renamed, secret: SecretBytes(text: "second"))
    // The other side had kept it where it was.
    try tree.replaceFile(shard(record), with: oldLine, temporary: "tmp")
    try tree.createFile(file(record), oldFile)
    let found = try keyring.find(Query()).items
    #expect(Set(found.map(\.path)) == [record.path, moved.path])
    #expect(try found.map { try keyring.text(of: $0) }.sorted() == ["first", "second"])
    let findings = try keyring.check(decrypts: true).findings
    let isShared = findings.count == 1 && [file(record), file(moved)].contains(findings[0].path)
    #expect(isShared, "\(findings)")
    guard case .sharedID? = findings.first?.kind else {
      Issue.record("\(findings)")
      return
    }
    // What the words for people advise.
    let copy = try keyring.duplicate(moved, as: .login("a.example", "copy"))
    try keyring.delete([moved])
    #expect(try keyring.check(decrypts: true).isClean)
    #expect(try keyring.text(of: copy) == "second" && keyring.text(of: record) == "first")
  }

  /// What plain git leaves where it knows nothing of items: the files of a store, made from those of both sides.
  enum Leaving: CaseIterable {
    case doubleLine, unsortedLines, staleLine, lineAlone, fileAlone, conflictLineLost, addedCopyLineLost
  }

  @Test(arguments: Leaving.allCases)
  func `what plain git leaves is read as the items say, and a repair settles it`(leaving: Leaving) throws {
    let tree = try store.tree()
    func read(_ path: String) throws -> [UInt8] { try tree.read(path, limit: 1 << 20) ?? [] }
    func write(_ path: String, _ bytes: [UInt8]) throws {
      try tree.replaceFile(path, with: bytes, temporary: "tmp")
    }
    let oldLine = try read(shard(record))
    var expected = ["me": "second"]
    var copies: [String] = []
    let new = try keyring.update(record, secret: SecretBytes(text: "second"))
    switch leaving {
    case .doubleLine: try write(shard(record), oldLine + read(shard(record)))
    case .staleLine: try write(shard(record), oldLine)
    case .unsortedLines:
      let other = try #require(
        try (0...).lazy.map { NewItem.login("a.example", "x\($0)") }.first {
          try $0.path().shard == record.path.shard
        })
      try keyring.add(other, secret: SecretBytes(text: "other"))
      expected[String(decoding: other.attributes[.account]?.contentBytes ?? [], as: UTF8.self)] = "other"
      let lines = try read(shard(record)).split(separator: 10)
      try write(shard(record), lines.reversed().flatMap { $0 + [10] })
    case .lineAlone:
      let other = try keyring.add(.login("b.example", "you"), secret: SecretBytes(text: "gone"))
      try tree.remove(file(other))
    case .fileAlone: try tree.remove(shard(record))
    case .conflictLineLost, .addedCopyLineLost:
      // A copy as a merge makes it: the message of the version as it was.
      let first = try keyring.add(.login("b.example", "you"), secret: SecretBytes(text: "mine"))
      let message = try read(file(first))
      let copy: ItemRecord
      if leaving == .conflictLineLost {
        copy = first.conflictCopy
        try keyring.update(first, secret: SecretBytes(text: "theirs"))
      } else {
        try keyring.delete([first])
        let winner = try keyring.add(.login("b.example", "you"), secret: SecretBytes(text: "theirs"))
        copy = first.conflicting(with: winner.id)
      }
      try tree.createFile(file(copy), message)
      expected["you"] = "theirs"
      copies = ["mine"]
    }
    if leaving != .fileAlone, leaving != .lineAlone {
      for item in try keyring.find(Query()).items {
        let account = String(decoding: item.attributes[.account]?.contentBytes ?? [], as: UTF8.self)
        #expect(try keyring.text(of: item) == expected[account])
      }
    }
    let report = try keyring.repair(decrypts: true)
    #expect(report.isClean, "\(report.findings)")
    #expect(!report.repairs.isEmpty)
    let items = try keyring.find(Query()).items
    #expect(items.count == expected.count)
    for item in items {
      let account = String(decoding: item.attributes[.account]?.contentBytes ?? [], as: UTF8.self)
      #expect(try keyring.text(of: item) == expected[account])
    }
    #expect(try keyring.conflictCopies().map { try keyring.text(of: $0) } == copies)
    let again = try keyring.repair(decrypts: true)
    #expect(again.isClean && again.repairs.isEmpty)
    #expect(try keyring.find(Query(predicates: [.id(record.id)])).items.map(\.revision) == [new.revision])
  }

  @Test func `no message is released under the id of another item, also not as a conflict copy`() throws {
    let tree = try store.tree()
    let other = try keyring.add(.login("b.example", "you"), secret: SecretBytes(text: "second"))
    let message = try #require(try tree.read(file(other), limit: 1 << 20))
    try keyring.delete([record])
    // A line that says to be the removed item, and a copy of the other one, whose message it has.
    var forged = other.conflicting(with: other.id)
    forged.id = record.id
    let lines = try tree.read(shard(other), limit: 1 << 20) ?? []
    let bytes = try lines + IndexLine.encode(forged) + [10]
    try tree.replaceFile(shard(other), with: bytes, temporary: "tmp")
    try tree.createFile(file(forged), message)
    let found = try #require(try keyring.find(Query(predicates: [.id(record.id)])).items.first)
    #expect(throws: KeyringError.bindingMismatch(found.reference, .item)) { _ = try keyring.text(of: found) }
    #expect(try !keyring.check(decrypts: true).isClean)
    // A true copy, under a line that says to be a copy of another item.
    #expect(!other.conflictCopy.id.isCopy(of: record.id) && other.conflictCopy.id.isCopy(of: other.id))
  }

  @Test func `a conflict copy is settled and not changed`() throws {
    let tree = try store.tree()
    let message = try #require(try tree.read(file(record), limit: 1 << 20))
    try keyring.update(record, secret: SecretBytes(text: "second"))
    try tree.createFile(file(record.conflictCopy), message)
    _ = try keyring.repair(decrypts: true)
    let copy = try #require(try keyring.conflictCopies().first)
    #expect(throws: KeyringError.conflictCopy(copy.reference)) { try keyring.update(copy, Self.account("x")) }
    try keyring.delete(keyring.find(Query()).items)
    // It is all that is left of the item.
    #expect(throws: KeyringError.itemNotFound) { try keyring.resolve(copy, keeping: .ours) }
    let kept = try keyring.resolve(copy, keeping: .theirs)
    #expect(try kept.map { try keyring.text(of: $0) } == ["first"])
  }

  @Test func `a repair makes a conflict copy of the older of two items that grew from one`() throws {
    let tree = try store.tree()
    let oldLine = try #require(try tree.read(shard(record), limit: 1 << 20))
    let oldFile = try #require(try tree.read(file(record), limit: 1 << 20))
    let renamed = try keyring.update(record, Self.account("you"))
    let moved = try keyring.update(renamed, secret: SecretBytes(text: "second"))
    try tree.replaceFile(shard(record), with: oldLine, temporary: "tmp")
    try tree.createFile(file(record), oldFile)
    let report = try keyring.repair()
    #expect(report.isClean, "\(report.findings)")
    #expect(try keyring.find(Query()).items == [moved])
    let copies = try keyring.conflictCopies(of: moved)
    #expect(try copies.map { try keyring.text(of: $0) } == ["first"])
    #expect(try keyring.check(decrypts: true).isClean)
    let settled = try keyring.resolve(try #require(copies.first), keeping: .both)
    #expect(try settled.map { try keyring.text(of: $0) } == ["second", "first"])
    #expect(try keyring.check(decrypts: true).isClean)
  }

  @Test func `a shard whose last item goes stays, so that git merges it`() throws {
    try keyring.delete([record])
    #expect(try store.tree().read(shard(record), limit: 1 << 20) == [])
    #expect(try keyring.check(decrypts: true).isClean)
    try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "again"))
    #expect(try keyring.find(Query()).items.count == 1)
  }

  @Test func `the old line of a renamed item becomes one item with the new one, or a copy of it`() throws {
    let tree = try store.tree()
    let oldLine = try #require(try tree.read(shard(record), limit: 1 << 20))
    let oldFile = try #require(try tree.read(file(record), limit: 1 << 20))
    let past = [ContentDigest(of: oldFile): oldFile]
    let renamed = try keyring.update(record, Self.account("you"))
    try tree.replaceFile(shard(record), with: oldLine, temporary: "tmp")
    // They differ in the name alone.
    #expect(try keyring.itemsWithoutFile(noted: false) == [record])
    #expect(try keyring.settleMerges(past: past).restored == [])
    #expect(try keyring.find(Query()).items == [renamed] && keyring.check(decrypts: true).isClean)
    // The other side had changed something, and nobody knows what the item was before.
    var changed = record
    (changed.attributes[.label], changed.modified) = ("theirs", renamed.modified)
    try tree.replaceFile(shard(record), with: IndexLine.encode(changed) + [10], temporary: "tmp")
    #expect(try keyring.settleMerges(past: past).restored == [file(changed.conflictCopy)])
    #expect(try keyring.find(Query()).items == [renamed] && keyring.check(decrypts: true).isClean)
    let copies = try keyring.conflictCopies(of: renamed)
    #expect(copies.map { $0.attributes[.label] } == ["theirs"])
    #expect(try copies.map { try keyring.text(of: $0) } == ["first"])
  }

  @Test func `what a driver has noted tells which side changed what`() throws {
    let tree = try store.tree()
    let oldFile = try #require(try tree.read(file(record), limit: 1 << 20))
    let past = [ContentDigest(of: oldFile): oldFile]
    let labelled = try keyring.update(record, AttributeChanges(set: Self.label("base")))
    let renamed = try keyring.update(labelled, Self.account("you"))
    let relabelled = try keyring.update(renamed, AttributeChanges(set: Self.label("mine")))
    var theirs = labelled
    (theirs.attributes[.comment], theirs.modified) = ("theirs", relabelled.modified)
    try tree.replaceFile(shard(record), with: IndexLine.encode(theirs) + [10], temporary: "tmp")
    try KeptMessages(of: tree).note(base: labelled)
    #expect(try keyring.itemsWithoutFile(noted: true) == [theirs])
    _ = try keyring.settleMerges(past: past)
    let found = try keyring.find(Query(predicates: [.id(record.id)])).items
    #expect(
      found.map { $0.attributes[.label] } == ["mine"] && found.map { $0.attributes[.comment] } == ["theirs"])
    #expect(try keyring.conflictCopies().isEmpty && keyring.check(decrypts: true).isClean)
    // Both have changed the same: the later value stays, the other one is kept as a copy.
    (theirs.attributes[.label], theirs.modified) = ("theirs", .latest)
    try tree.replaceFile(shard(record), with: IndexLine.encode(theirs) + [10], temporary: "tmp")
    try KeptMessages(of: tree).note(base: labelled)
    _ = try keyring.settleMerges(past: past)
    let winner = try #require(try keyring.find(Query(predicates: [.id(record.id)])).items.first)
    let copies = try keyring.conflictCopies()
    #expect(winner.attributes[.label] == "theirs" && winner.path == renamed.path)
    #expect(copies.map { $0.attributes[.label] } == ["mine"])
    #expect(try copies.map { try keyring.text(of: $0) } == ["first"])
    #expect(try keyring.check(decrypts: true).isClean)
  }

  @Test func `a file that somebody has put back beside a renamed item is put aside`() throws {
    let tree = try store.tree()
    let old = try #require(try tree.read(file(record), limit: 1 << 20))
    let renamed = try keyring.update(record, Self.account("you"))
    let moved = try keyring.update(renamed, secret: SecretBytes(text: "second"))
    try tree.createFile(file(record), old)
    for _ in 0..<2 {
      for decrypts in [true, false] {
        #expect(try keyring.repair(decrypts: decrypts).findings == [])
        #expect(try keyring.find(Query()).items == [moved])
        #expect(try keyring.text(of: moved) == "second" && keyring.conflictCopies().isEmpty)
      }
    }
  }

  @Test func `a repair goes on where a line beside the one to be settled cannot be read`() throws {
    let tree = try store.tree()
    let oldLine = try #require(try tree.read(shard(record), limit: 1 << 20))
    let renamed = try keyring.update(record, Self.account("you"))
    try tree.replaceFile(shard(record), with: oldLine + Array("{bad\n".utf8), temporary: "tmp")
    let other = try #require(try tree.read(shard(renamed), limit: 1 << 20))
    try tree.replaceFile(shard(renamed), with: other + Array("{bad\n".utf8), temporary: "tmp")
    _ = try keyring.settleMerges(isThorough: true)
    #expect(try keyring.repair().isClean)
    #expect(try keyring.find(Query()).items == [renamed])
    #expect(try keyring.text(of: renamed) == "first")
  }

  @Test func `the line of a conflict copy gets its message from where that is`() throws {
    let tree = try store.tree()
    // Both had changed the label: the copy has the message of the item.
    let labelled = try keyring.update(record, AttributeChanges(set: Self.label("mine")))
    var theirs = record
    theirs.attributes[.label] = "theirs"
    let copy = theirs.conflictCopy
    func add(_ line: ItemRecord) throws {
      var lines = Shard(parsing: try tree.read(shard(line), limit: 1 << 20) ?? [], number: line.path.shard)
      try lines.replaceLines(with: line)
      try tree.replaceFile(shard(line), with: lines.encode(), temporary: "tmp")
    }
    try add(copy)
    try KeptMessages(of: tree).note(copy: copy.id)
    #expect(try keyring.settleMerges().placed == 1)
    // Both had renamed it: the file is where the copy would have been.
    let message = try #require(try tree.read(file(labelled), limit: 1 << 20))
    let renamed = try keyring.update(labelled, Self.account("you"))
    let other = labelled.conflictCopy
    try tree.createFile(file(labelled), message)
    try add(other)
    try KeptMessages(of: tree).note(copy: other.id)
    #expect(try keyring.settleMerges().placed == 1)
    #expect(try tree.status(file(labelled)) == nil)
    let findings = try keyring.check(decrypts: true).findings
    #expect(findings == [], "\(findings)")
    #expect(try keyring.find(Query()).items == [renamed])
    #expect(try keyring.conflictCopies().map { try keyring.text(of: $0) } == ["first", "first"])
  }

  @Test func `what is left of a merge that was given up is forgotten`() throws {
    let message = try #require(try store.tree().read(file(record), limit: 1 << 20))
    let kept = KeptMessages(of: try store.tree())
    try keyring.update(record, secret: SecretBytes(text: "second"))
    try kept.keep(message)
    #expect(try keyring.settleMerges(known: [ContentDigest(of: message)]).placed == 0)
    #expect(try kept.isEmpty && keyring.conflictCopies().isEmpty)
    // One that nobody else has becomes a copy.
    try kept.keep(message)
    #expect(try keyring.settleMerges().placed == 1)
    #expect(try keyring.conflictCopies().map { try keyring.text(of: $0) } == ["first"])
  }

  @Test func `an older secret that was put back is never accepted by a repair`() throws {
    let tree = try store.tree()
    let oldFile = try #require(try tree.read(file(record), limit: 1 << 20))
    let new = try keyring.update(record, secret: SecretBytes(text: "second"))
    try tree.replaceFile(file(record), with: oldFile, temporary: "tmp")
    #expect(try keyring.repair().findings.map(\.kind) == [.notAsIndexed])
    #expect(try keyring.find(Query()).items == [new])
    #expect { _ = try keyring.text(of: new) } throws: { error in
      guard case KeyringError.bindingMismatch(_, .olderSecret(_)) = error else { return false }
      return true
    }
    // Removing the item puts the file aside; whoever wants the old secret finds it there.
    try keyring.delete([new])
    #expect(try keyring.check().isClean)
    let kept = try #require(try tree.list(".keytree").first { $0.hasPrefix("quarantine-") })
    #expect(try tree.read(".keytree/\(kept)/\(file(record))", limit: 1 << 20) == oldFile)
  }
}
