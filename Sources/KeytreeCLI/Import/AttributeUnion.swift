internal import Encoding
internal import KeyringModel

extension Attributes {
  // A further value of an attribute is kept under its name with a number: `url`, `url-2`, `url-3`.
  private static let furtherValues = 2...9
  // Below the 16 KiB of an index line with room for what is not an attribute.
  private static let sizeLimit = 12 << 10

  // What browsers count for themselves. It differs in every export of the same password, so that the first
  // value stays and later ones are not kept.
  private static let bookkeeping: Set<AttributeName> = [
    "guid", "timeCreated", "timeLastUsed", "timePasswordChanged",
  ]

  // What a person changes. A value that is there may have come after the one of the source.
  private static let personal: Set<AttributeName> = [.comment, .kind, .label]

  /// What these attributes say that others do not.
  ///
  /// - Parameters:
  ///   - others: The attributes of an item with the same primary key.
  ///   - isStored: Whether that item is in the store: its label, comment and kind are left alone then.
  /// - Returns: What to add to the others so that they say it all; nil when they have no room for it.
  func missing(in others: Attributes, isStored: Bool = false) -> Attributes? {
    var missing = Attributes()
    for (name, value) in entries {
      guard let known = others[name] else {
        missing[name] = value
        continue
      }
      if known.isSame(as: value) || Attributes.bookkeeping.contains(name) { continue }
      if isStored, Attributes.personal.contains(name) { continue }
      // Synonyms of the primary key's values were found equal already.
      if AttributeSchema.normalized(name: name, value: known)
        == AttributeSchema.normalized(name: name, value: value)
      {
        continue
      }
      let further = Attributes.furtherValues.lazy.map { AttributeName("\(name.text)-\($0)") }
      if further.contains(where: { others[$0]?.isSame(as: value) == true }) { continue }
      guard let free = further.first(where: { others[$0] == nil && missing[$0] == nil }) else { return nil }
      missing[free] = value
    }
    if missing.isEmpty { return missing }
    let all = others.merging(missing)
    guard all.count <= AttributeSchema.maximumCount, all.sizeInLine <= Attributes.sizeLimit else {
      return nil
    }
    return missing
  }

  /// How many bytes the attributes take in an index line.
  var sizeInLine: Int {
    // Two quotes and a colon around the name, a comma after the value.
    entries.reduce(0) { $0 + $1.name.text.utf8.count + 4 + $1.value.sizeInLine }
  }
}

extension AttributeValue {
  /// How many bytes the value takes in an index line, where some are escaped.
  var sizeInLine: Int { JSONValue(self).canonicalBytes.count }
}
