internal import Encoding
internal import KeyringModel
package import Secrets

/// The import of the output of `keytree export json`: all attributes and the exact secret of every item.
///
/// Ids, revisions and times belong to the keyring of an item; the new items get new ones.
package enum KeytreeImport {
  /// The version of the format that is read and written.
  package static let version = 1

  /// Plans all items.
  ///
  /// - Parameter bytes: the content of the file.
  /// - Throws: `json`; `otherFormat`, also for a newer version.
  package static func plan(_ bytes: borrowing SecretBytes) throws(SourceError) -> ImportDraft {
    let json = try SecretJSON(source: bytes)
    guard json["format"]?.text?.publicBytes().elementsEqual("keytree".utf8) == true,
      let items = json["items"]?.elements
    else { throw .otherFormat(expected: "an export of keytree") }
    guard json["version"]?.integer == version else {
      throw .otherFormat(expected: "an export in a format version that this keytree supports")
    }
    var draft = ImportDraft()
    // The limits of `add` do not apply here, because an item that fits in one store fits in another.
    draft.logins = PlannedLogin.logins(
      of: items.enumerated().compactMap { read($1, number: $0 + 1, into: &draft) })
    return draft
  }

  private static func read(
    _ item: SecretJSON, number: Int, into draft: inout ImportDraft
  ) -> PlannedItem? {
    let title = item["attributes"]?["label"]?.text?.publicBytes() ?? []
    let source = ImportSource.entry(number, title: title)
    let word = item["class"]?.text.map { String(decoding: $0.publicBytes(), as: UTF8.self) } ?? ""
    guard let itemClass = ItemClass(rawValue: word), let members = item["attributes"]?.members,
      let secret = item["secret"].flatMap(secret)
    else {
      draft.lose(source, .noPlace("not a keytree item"))
      return nil
    }
    var planned = PlannedItem(
      itemClass: itemClass, attributes: Attributes(), secret: secret, source: source, part: .secret)
    planned.group = item["group"]?.text.map { String(decoding: $0.publicBytes(), as: UTF8.self) }
    planned.isLocal = item["local"]?.boolean == true
    let known: Set<String> = ["class", "group", "created", "modified", "attributes", "secret", "local"]
    for member in item.members ?? [] where !known.contains(member.name) {
      draft.lose(source, .noPlace("this version of keytree does not support it"), part: .column(member.name))
    }
    var attributes: [(name: AttributeName, value: AttributeValue)] = []
    for member in members {
      let name = AttributeName(member.name)
      guard let value = value(member.value, of: name) else {
        draft.lose(source, .noPlace("its value is not valid for an attribute"), part: .column(name.text))
        continue
      }
      do {
        try AttributeSchema.check(name: name, value: value, class: itemClass)
        attributes.append((name, value))
      } catch {
        draft.lose(
          source, .noPlace("items of this class cannot have this attribute"), part: .column(name.text))
      }
    }
    planned.attributes = Attributes(unsorted: attributes)
    guard secret.count <= ImportDraft.secretLimit else {
      draft.lose(source, .tooLarge(limit: ImportDraft.secretLimit))
      return nil
    }
    if let field = planned.field { planned.part = ImportPart(field: field, label: planned.label) }
    return planned
  }

  private static func value(_ json: SecretJSON, of name: AttributeName) -> AttributeValue? {
    switch json {
    case .string(let text):
      AttributeSchema.normalized(name: name, value: AttributeValue(text: text.publicBytes()))
    case .number: json.integer.map { AttributeValue.integer(Int64($0)) }
    case .boolean(let flag): .boolean(flag)
    case .object:
      json["base64"]?.text?.decodedBase64().map {
        AttributeValue.bytes($0.publicBytes())
      }
    case .null, .array: nil
    }
  }

  private static func secret(_ json: SecretJSON) -> SecretSlice? {
    if let text = json.text { return text }
    guard let text = json["base64"]?.text, let bytes = text.decodedBase64() else { return nil }
    return bytes
  }
}
