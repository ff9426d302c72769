internal import Foundation
internal import Keyring

/// The items that `kSecMatchItemList` selects by persistent references, certificates, keys and identities.
struct SecItemList {
  private var references: [PersistentReference] = []
  /// The class and primary key of the items that objects were made from.
  private var objects: [(itemClass: ItemClass, key: Attributes)] = []

  /// Reads a list.
  ///
  /// - Throws: `parameter` if the value is not a list, or if it contains anything else.
  init(_ value: Any) throws {
    for element in try UnbridgedList.elements(of: value) {
      switch element {
      case let data as Data:
        guard let reference = PersistentReference(data) else { throw SecItemFailure.parameter }
        references.append(reference)
      case let certificate as SecCertificate: add(certificate)
      case let identity as SecIdentity: add(identity.certificate)
      case let key as SecKey:
        let attributes = key.itemAttributes.primaryKey(of: .key)
        if let id = key.itemID {
          references.append(PersistentReference(itemClass: .key, id: id))
        } else {
          // As in a query: the attributes of symmetric keys do not distinguish them.
          guard attributes[.applicationLabel] != nil else { throw SecItemFailure.parameter }
          objects.append((.key, attributes))
        }
      default: throw SecItemFailure.parameter
      }
    }
  }

  private mutating func add(_ certificate: SecCertificate) {
    objects.append((.certificate, certificate.itemAttributes.primaryKey(of: .certificate)))
  }

  /// Returns true if an item is in the list. An identity is in the list if its certificate is.
  func contains(_ record: ItemRecord) -> Bool {
    references.contains { $0.itemClass == record.itemClass && $0.id == record.id }
      || objects.contains { $0.itemClass == record.itemClass && record.attributes.contain($0.key) }
  }
}

/// Access to Foundation lists without bridging.
enum UnbridgedList {
  /// Returns the elements of a list.
  ///
  /// Bridging a list to a Swift array also bridges every element, and does not return for a list that contains itself.
  /// The mirror of the list shows the original objects.
  ///
  /// - Throws: `parameter` if the value is not a list, or if its mirror does not show its elements.
  static func elements(of value: Any) throws -> [Any] {
    guard let list = value as? NSArray else { throw SecItemFailure.parameter }
    let elements = Mirror(reflecting: list).children.map(\.value)
    guard elements.count == list.count else { throw SecItemFailure.parameter }
    return elements
  }
}
