package import KeyringModel
package import Secrets

/// An item that an import would add: what it says, its secret, and where it came from.
package struct PlannedItem: Sendable {
  /// The class of the item.
  package var itemClass: ItemClass
  /// All attributes, public by nature.
  package var attributes: Attributes
  /// The bytes to seal.
  package var secret: SecretSlice
  /// Which entry it comes from.
  package var source: ImportSource
  /// Which part of that entry it is.
  package var part: ImportPart
  /// The group it was in, when the source says so; else the one that the import is for.
  package var group: String?
  /// Whether it stays on this machine.
  package var isLocal = false
  /// What its owner should know.
  package var remarks: [ImportRemark] = []
  /// Attributes that tell it from another item with the same primary key, the best first.
  var alternatives: [Attributes] = []

  /// The highest number of a numbered alternative; each before it was taken by another item.
  private static let highestNumber = 99

  /// The attributes to try, in an order that depends on nothing but the item.
  ///
  /// First as they are, then with what tells it apart by meaning (the path of its URL, the folders it was
  /// in), then numbered: an internet password in its security domain, a generic one in its account.
  var candidates: some Sequence<Attributes> {
    // Made one by one: nearly always the first is the one.
    // Only passwords have a name that a number can be added to.
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
  /// The full URL of an imported password, as far as it may be public.
  static let url: AttributeName = "url"
  /// The path of an imported item in its password store.
  static let passPath: AttributeName = "pass"
}

extension Attributes {
  /// These attributes with others set over them.
  func merging(_ others: Attributes) -> Attributes {
    var result = self
    result.merge(others)
    return result
  }
}
