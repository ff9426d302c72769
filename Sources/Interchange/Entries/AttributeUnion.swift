internal import Encoding
package import KeyringModel

extension Attributes {
  // A further value of an attribute is stored under its name with a number: `url`, `url-2`, `url-3`.
  private static let furtherValues = 2...9
  // Less than the 16 KiB of an index line, which leaves room for the members that are not attributes.
  private static let sizeLimit = 12 << 10

  // Data that browsers maintain themselves. It differs in every export of the same password, so only the first value is
  // kept.
  private static let bookkeeping: Set<AttributeName> = [
    "guid", "timeCreated", "timeLastUsed", "timePasswordChanged",
  ]

  // Attributes that users edit. The stored value may be newer than the one of the source.
  private static let personal: Set<AttributeName> = [.comment, .kind, .label]

  /// Returns the information in these attributes that others lack.
  ///
  /// - Parameters:
  ///   - others: the attributes of an item with the same primary key.
  ///   - isStored: true if that item is in the store: its label, comment and kind are then left alone.
  /// - Returns: the attributes to add to the others; nil if they do not fit.
  package func missing(in others: Attributes, isStored: Bool = false) -> Attributes? {
    var missing = Attributes()
    for (name, value) in entries {
      guard let known = others[name] else {
        missing[name] = value
        continue
      }
      if known.isSame(as: value) || Attributes.bookkeeping.contains(name) { continue }
      if isStored, Attributes.personal.contains(name) { continue }
      // Different spellings of the primary key's values were already found equal.
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

  /// True for an entry that its program keeps out of sight: with a flag, or with the date at which it was archived.
  var isArchived: Bool {
    let flag = self["archived"].map { ["1", "true"].contains($0) || $0.isSame(as: true) }
    return flag == true || self["archivedDate"]?.contentBytes?.isEmpty == false
  }

  /// Returns these attributes without the data that browsers maintain themselves.
  var withoutBookkeeping: Attributes {
    Attributes(unsorted: entries.filter { !Attributes.bookkeeping.contains($0.name) })
  }

  /// The number of bytes that the attributes take in an index line.
  var sizeInLine: Int {
    // Two quotes and a colon around the name, a comma after the value.
    entries.reduce(0) { $0 + $1.name.text.utf8.count + 4 + $1.value.sizeInLine }
  }
}

extension AttributeName {
  /// True for a date of an entry in its program, which changes with every part of it.
  var isDate: Bool {
    ["creationDate", "revisionDate", "passwordRevisionDate"].contains { name in
      text == name || text.hasPrefix("\(name)-")
    }
  }
}

extension AttributeValue {
  /// The number of bytes that the value takes in an index line, including escapes.
  var sizeInLine: Int { JSONValue(self).canonicalBytes.count }
}
