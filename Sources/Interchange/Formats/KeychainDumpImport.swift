internal import KeyringModel
package import Secrets

/// The import of the output of macOS `security dump-keychain -d`, with the same classes and attributes.
///
/// - Four-letter codes for protocols and authentication types become the names that the store uses: `htps` becomes
///   `https`.
/// - A secure note is a generic password of type `note` whose data is a property list. Its text becomes the secret of
///   the item.
/// - Certificates and keys are losses, because the dump does not contain them. So are items without data, which the
///   dump leaves out without `-d` or if access was denied.
package enum KeychainDumpImport {
  /// Plans all items.
  ///
  /// - Parameter bytes: the text.
  /// - Throws: `notUTF8`; `line`; `otherFormat`.
  package static func plan(_ bytes: borrowing SecretBytes) throws(SourceError) -> ImportDraft {
    try SourceText.check(bytes)
    let blocks = try KeychainDumpText.blocks(of: SecretSlice(bytes.copy()))
    guard !blocks.isEmpty else { throw .otherFormat(expected: "the output of `security dump-keychain -d`") }
    var draft = ImportDraft()
    for block in blocks { read(block, into: &draft) }
    return draft
  }

  private static func read(_ block: KeychainDumpText.Block, into draft: inout ImportDraft) {
    let source = ImportSource.line(block.line)
    guard let itemClass = classes[block.itemClass] else {
      draft.lose(source, .noPlace("a dump does not contain certificates and keys: export them separately"))
      return
    }
    let isNote = block.attributes.contains { $0.tag == "type" && $0.value.isEqual(toText: "note") }
    let attributes = Attributes(unsorted: block.attributes.compactMap { attribute($0, $1, itemClass) })
    guard let data = block.data else {
      draft.lose(
        source, .unreadable("the dump does not contain its data: create the dump with `-d` and allow access"))
      return
    }
    var item = PlannedItem(
      itemClass: itemClass, attributes: attributes, secret: data, source: source, part: .secret)
    guard isNote else {
      draft.add(PlannedLogin(item))
      return
    }
    item.attributes[.kind] = item.attributes[.kind] ?? .secureNote
    item.attributes[.type] = nil
    item.part = .note
    let list = NotePropertyList(data)
    if let text = list.note { item.secret = text }
    var login = PlannedLogin(item)
    // The list also contains fonts and pictures, which are not in the text.
    if list.note != nil, list.hasMore { login.add(.column("property list"), data) }
    draft.add(login)
  }

  /// Returns the attribute for a tag; nil for one without a value.
  private static func attribute(
    _ tag: String, _ value: KeychainDumpText.Value, _ itemClass: ItemClass
  ) -> (name: AttributeName, value: AttributeValue)? {
    guard let name = names[tag] ?? (tag.isEmpty ? nil : AttributeName(tag)) else { return nil }
    var found = AttributeValue(text: value.bytes)
    if name == .protocol || name == .authenticationType {
      let code = String(decoding: value.bytes, as: UTF8.self)
      // The number 0 means no value.
      if value.number == 0 { return nil }
      found = .string(FourCharacterCode.word(for: code, of: name))
    } else if AttributeSchema.kind(of: name) == .integer || AttributeSchema.kind(of: name) == .boolean {
      guard let number = value.number ?? value.fourLetters, number != 0 else { return nil }
      found = AttributeSchema.kind(of: name) == .boolean ? .boolean(true) : .integer(number)
    } else if value.isDate, found.contentBytes?.last == 0 {
      found = AttributeValue(text: value.bytes.dropLast())
    }
    if found.isDefault { return nil }
    do {
      // An item of a keychain is never a field.
      if name == .field { throw AttributeError.reservedName(name) }
      try AttributeSchema.check(name: name, value: found, class: itemClass)
      return (name, found)
    } catch {
      // An attribute that the class cannot have or that is reserved is stored under another name.
      return (AttributeName("keychain-\(name.text)"), AttributeValue(text: value.bytes))
    }
  }

  private static let classes: [String: ItemClass] = ["genp": .genericPassword, "inet": .internetPassword]

  // The tags of SecKeychainItem.h; 7 is the label and 8 the alias.
  private static let names: [String: AttributeName] = [
    "0x00000007": .label, "0x00000008": .alias, "acct": .account, "svce": .service, "srvr": .server,
    "desc": .kind, "icmt": .comment, "gena": .generic, "sdmn": .securityDomain, "path": .path, "port": .port,
    "ptcl": .protocol, "atyp": .authenticationType, "crtr": .creator, "type": .type, "scrp": .scriptCode,
    "cusi": .customIcon, "invi": .invisible, "nega": .negative, "prot": .protected,
    "cdat": "creationDate", "mdat": "revisionDate",
  ]
}
