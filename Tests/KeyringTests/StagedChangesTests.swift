import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

/// Tests two changes to one item in one transaction: the second one applies to the result of the first.
@Suite(.serialized) struct StagedChangesTests {
  /// Two changes and the result: `account` and secret, or nothing.
  enum Pair: String, CaseIterable {
    case addThenRename = "new:s"
    case addThenUpdate = "me:t"
    case addThenLabel = "me:s, labelled"
    case addThenDelete = ""
    case updateThenRename = "new:t"
    case updateThenDelete = " "
    case renameThenUpdate = "new:u"
    case renameThenUpdateByTheOldRecord = "new:v"
    case renameThenRenameBack = "me:w"
    case deleteThenAdd = "me:x"
    case labelThenRename = "new:s, labelled"
  }

  private static func account(_ name: String) -> AttributeChanges {
    var set = Attributes()
    set[.account] = .string(name)
    return AttributeChanges(set: set)
  }

  private static func label() -> AttributeChanges {
    var set = Attributes()
    set[.label] = .string("labelled")
    return AttributeChanges(set: set)
  }

  @Test("the second of two changes in one transaction sees the first", arguments: Pair.allCases)
  func pairs(_ pair: Pair) throws {
    let store = StandInStore()
    let keyring = try store.create()
    let item = NewItem.login("a.example", "me")
    // The last letter of the expected result is the secret that the item has before or gets.
    let isNew = pair.rawValue.isEmpty || "\(pair)".hasPrefix("add")
    let old: ItemRecord? = isNew ? nil : try keyring.add(item, secret: SecretBytes(text: Self.first(pair)))
    try keyring.transaction { changes throws(KeyringError) in
      let record: ItemRecord
      if let old { record = old } else { record = try changes.add(item, secret: SecretBytes(text: "s")) }
      switch pair {
      case .addThenRename: try changes.update(record, Self.account("new"))
      case .addThenUpdate: try changes.update(record, AttributeChanges(), secret: SecretBytes(text: "t"))
      case .addThenLabel: try changes.update(record, Self.label())
      case .addThenDelete: try changes.delete(record)
      case .updateThenRename:
        let updated = try changes.update(record, AttributeChanges(), secret: SecretBytes(text: "t"))
        try changes.update(updated, Self.account("new"))
      case .updateThenDelete:
        try changes.delete(changes.update(record, AttributeChanges(), secret: SecretBytes(text: "t")))
      case .renameThenUpdate:
        let renamed = try changes.update(record, Self.account("new"))
        try changes.update(renamed, AttributeChanges(), secret: SecretBytes(text: "u"))
      case .renameThenUpdateByTheOldRecord:
        try changes.update(record, Self.account("new"))
        try changes.update(record, AttributeChanges(), secret: SecretBytes(text: "v"))
      case .renameThenRenameBack:
        try changes.update(changes.update(record, Self.account("new")), Self.account("me"))
      case .deleteThenAdd:
        try changes.delete(record)
        try changes.add(item, secret: SecretBytes(text: "x"))
      case .labelThenRename:
        try changes.update(changes.update(record, Self.label()), Self.account("new"))
      }
    }
    let found = try store.open().find(Query()).items
    let texts = try found.map { record in
      let label = record.attributes[.label] == nil ? "" : ", labelled"
      guard case .string(let account) = record.attributes[.account] else { return "" }
      return try "\(account):\(keyring.text(of: record))\(label)"
    }
    #expect(texts.joined() == pair.rawValue.drop { $0 == " " })
    #expect(try keyring.check(decrypts: true).findings == [])
    #expect(try store.tree().list(".keytree") == ["lock"])
  }

  private static func first(_ pair: Pair) -> String {
    switch pair {
    case .renameThenRenameBack: "w"
    default: "s"
    }
  }

  @Test func `an item that was removed in a transaction cannot be changed in it`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let record = try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    #expect(throws: KeyringError.itemNotFound) {
      try keyring.transaction { changes throws(KeyringError) in
        try changes.delete(record)
        try changes.update(record, Self.label())
      }
    }
    #expect(try keyring.text(of: record) == "s")
  }
}
