internal import Encoding
internal import Keyring
internal import KeyringModel

/// The form in which the store has an item of the Secret Service API.
enum ItemForm {
  /// The value of `kind` that marks an item of the service.
  static let marker = AttributeValue.string("secret-service")
  /// The prefix of the names of attributes that clients set.
  static let prefix = "ss:"
  /// The attribute with the content type. A missing one means ``defaultContentType``.
  static let contentType: AttributeName = "ssContentType"
  /// The content type of a secret without one.
  static let defaultContentType = "text/plain"
  /// The attribute that names the schema of an item.
  static let schema = "xdg:schema"
  /// The service of an item without a usable schema.
  static let defaultService = "secret-service"
  /// The largest size of a schema that becomes the service of an item, in bytes.
  private static let maximumServiceSize = 200
  /// The schema of pinentry for the passphrases of keys. While the agent waits for pinentry, pinentry waits for the
  /// answer, and the passphrase of a key is of no use in something that the key protects.
  static let passphraseSchema = "org.gnupg.Passphrase"

  /// The largest size of a name, in bytes.
  static let maximumNameSize = 125
  /// The largest number of attributes.
  static let maximumCount = 56
  /// The largest size of a value, of a label and of a content type, in bytes.
  static let maximumValueSize = AttributeSchema.maximumValueSize

  /// Returns true if an item can have an attribute.
  static func canHave(_ pair: ServiceAttributes.Pair) -> Bool {
    let size = pair.name.utf8.count
    return size >= 1 && size <= maximumNameSize && pair.value.utf8.count <= maximumValueSize
      && !pair.name.unicodeScalars.contains { $0.properties.generalCategory == .control }
  }

  /// Returns the attribute of the store for the name of a client.
  static func name(_ name: String) -> AttributeName { AttributeName(prefix + name) }

  /// Returns the service of an item with some attributes.
  static func service(of attributes: ServiceAttributes) -> String {
    guard let schema = attributes[schema], !schema.isEmpty, schema.utf8.count <= maximumServiceSize else {
      return defaultService
    }
    return schema
  }

  /// Returns the account of the first item with some attributes: a digest of them, so that two clones that create the
  /// same item create it at the same path. It proves nothing.
  static func account(of attributes: ServiceAttributes) -> String {
    var bytes = Array("keytree secret-service item 1\n".utf8)
    func append(_ text: String) {
      let size = UInt32(text.utf8.count)
      for shift in stride(from: UInt32(24), through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: size >> shift))
      }
      bytes += text.utf8
    }
    for pair in attributes.pairs {
      append(pair.name)
      append(pair.value)
    }
    return String(Hexadecimal.text(ContentDigest(of: bytes).bytes).prefix(32))
  }
}

extension ItemRecord {
  /// True if the service serves this item: it has the marker, and is not a field of a login.
  var isServed: Bool {
    itemClass == .genericPassword && field == nil
      && attributes[.kind]?.isSame(as: ItemForm.marker) == true
  }

  /// The attributes as clients see them. Those that the bus cannot carry are left out.
  var serviceAttributes: ServiceAttributes {
    var pairs: [(name: String, value: String)] = []
    for entry in attributes.entries where entry.name.text.utf8.starts(with: ItemForm.prefix.utf8) {
      guard case .string(let value) = entry.value, !value.utf8.contains(0) else { continue }
      let name = entry.name.text.utf8.dropFirst(ItemForm.prefix.utf8.count)
      pairs.append((String(decoding: name, as: UTF8.self), value))
    }
    return ServiceAttributes(pairs)
  }

  /// The schema as clients see it; nil if the item has none.
  var serviceSchema: String? {
    guard case .string(let schema)? = attributes[ItemForm.name(ItemForm.schema)] else { return nil }
    return schema
  }

  /// The label as clients see it.
  var serviceLabel: String {
    guard let bytes = attributes[.label]?.contentBytes else { return "" }
    return String(decoding: bytes.filter { $0 != 0 }, as: UTF8.self)
  }

  /// The content type as clients see it.
  var serviceContentType: String {
    guard case .string(let text)? = attributes[ItemForm.contentType], !text.isEmpty, !text.utf8.contains(0)
    else {
      return ItemForm.defaultContentType
    }
    return text
  }
}

extension Timestamp {
  /// The whole seconds since 1970.
  var seconds: UInt64 { UInt64(max(0, microseconds) / 1_000_000) }
}
