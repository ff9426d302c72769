package import KeyringModel
package import Secrets

/// An item that an import would add: its attributes, its secret, and its source.
package struct PlannedItem: Sendable {
  /// The class of the item.
  package var itemClass: ItemClass
  /// All attributes, which are public.
  package var attributes: Attributes
  /// The secret, in plain text.
  package var secret: SecretSlice
  /// The entry that it comes from.
  package var source: ImportSource
  /// The part of that entry.
  package var part: ImportPart
  /// The group in the source, if the source has one. Nil means the group of the import.
  package var group: String?
  /// True if it stays on this machine.
  package var isLocal = false
  /// Remarks for the user.
  package var remarks: [ImportRemark] = []
  /// Attributes that distinguish it from another item with the same primary key, the best first.
  var alternatives: [Attributes] = []

  /// The highest number of a numbered alternative.
  private static let highestNumber = 99

  /// The attributes to try, in an order that depends only on the item.
  ///
  /// First the attributes as they are, then those with meaningful additions (the path of its URL, the folders of its
  /// source), then numbered ones: an internet password in its security domain, a generic one in its account.
  package var candidates: some Sequence<Attributes> {
    // Lazy, because the first one is almost always free. Only passwords have an attribute that a number can be added
    // to.
    let isPassword = itemClass == .genericPassword || itemClass == .internetPassword
    let numbers = isPassword ? PlannedItem.highestNumber : 1
    return (0..<alternatives.count + numbers).lazy.map { position in
      switch position {
      case 0: attributes
      case 1..<alternatives.count + 1: attributes.merging(alternatives[position - 1])
      default: numbered(position - alternatives.count + 1)
      }
    }
  }

  private func numbered(_ number: Int) -> Attributes {
    let (name, mark): (AttributeName, String) =
      switch itemClass {
      case .internetPassword: (.securityDomain, "duplicate-\(number)")
      default: (.account, "(\(number))")
      }
    var result = attributes
    let before = attributes[name]?.contentBytes ?? []
    result[name] = AttributeValue(text: before + (before.isEmpty ? "" : " ").utf8 + mark.utf8)
    return result
  }
}

extension AttributeName {
  /// The attribute for the public parts of the URL of an imported password.
  package static let url: AttributeName = "url"
  /// The attribute for the path of an imported item in its password store.
  package static let passPath: AttributeName = "pass"
}

extension Attributes {
  /// Returns these attributes merged with others, which take precedence.
  func merging(_ others: Attributes) -> Attributes {
    var result = self
    result.merge(others)
    return result
  }
}
