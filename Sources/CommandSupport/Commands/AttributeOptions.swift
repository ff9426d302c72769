package import Arguments
package import KeyringModel

/// The options for attributes. The short options are those of macOS `security`.
package enum AttributeOptions {
  private static let heading = "Attributes"

  private static func text(
    _ long: String?, _ short: Unicode.Scalar? = nil, _ value: String, _ help: String
  ) -> OptionDeclaration {
    OptionDeclaration(
      long, short: short, .required(ValueDeclaration(value, .bytes)), help: help, heading: heading)
  }

  package static let account = text("account", "a", "NAME", "the name of the account")
  static let serverOrService = text(nil, "s", "NAME", "the server or the service, depending on the class")
  package static let server = text("server", nil, "HOST", "the server of an internet password")
  package static let service = text("service", nil, "NAME", "the service of a generic password")
  package static let label = text("label", "l", "TEXT", "the name shown to people")
  package static let comment = text("comment", "j", "TEXT", "a comment")
  package static let kind = text("kind", "D", "TEXT", "the kind of secret, for example `wifi`")
  static let protocolName = text("protocol", "r", "NAME", "the protocol, for example `https`")
  package static let port = OptionDeclaration(
    "port", short: "P", .required(ValueDeclaration("NUMBER", .integer(0...65535))), help: "the port",
    heading: heading)
  package static let path = text("path", "p", "PATH", "the path on the server")
  package static let securityDomain = text("security-domain", "d", "NAME", "the security domain (realm)")
  package static let authenticationType = text("auth-type", "t", "NAME", "the kind of authentication")
  package static let group = OptionDeclaration(
    "group", short: "g", .required(ValueDeclaration("NAME", .text, completion: .group)),
    help: "the group of people who can read it", heading: heading)
  package static let itemClass = OptionDeclaration(
    "class", .required(ValueDeclaration("CLASS", .choice(ItemName.classWords))),
    help: "the class: generic, internet, cert or key", heading: heading)
  package static let attribute = OptionDeclaration(
    "attribute", .required(ValueDeclaration("NAME=VALUE", .bytes)),
    help: "any attribute by its name in the index; other names are custom attributes", heading: heading,
    isRepeatable: true)

  package static let url = text(
    "url", nil, "URL", "the address of the login; it is an attribute, so all members can read it")
  package static let tag = OptionDeclaration(
    "tag", .required(ValueDeclaration("TAG", .bytes)), help: "a tag; tags are the custom attribute `tags`",
    heading: heading, isRepeatable: true)

  /// The option that names a field of the item, for commands that work on one field.
  package static let field = OptionDeclaration(
    "field", .required(ValueDeclaration("NAME", .text)),
    help: "the field NAME of the item instead of the item itself: `otp`, `note` or any other")

  /// The options that each set one attribute.
  package static let plain: [(option: OptionDeclaration, name: AttributeName)] = [
    (account, .account), (server, .server), (service, .service), (label, .label), (comment, .comment),
    (kind, .kind), (protocolName, .protocol), (port, .port), (path, .path),
    (securityDomain, .securityDomain), (authenticationType, .authenticationType), (url, .url),
  ]

  /// The options for selecting and for creating items.
  package static let all: [OptionDeclaration] = [
    account, serverOrService, server, service, label, comment, kind, protocolName, port, path,
    securityDomain, authenticationType, url, tag, group, itemClass, attribute,
  ]

  /// The options for changing an item. The class of an item cannot change.
  package static let forChange: [OptionDeclaration] = all.filter { $0.name != itemClass.name }
}

/// The attributes in a command line.
package struct GivenAttributes: Equatable, Sendable {
  /// One attribute and its value, as typed.
  package struct Entry: Hashable, Sendable {
    /// The name; nil means the server or the service, depending on the class.
    package let name: AttributeName?
    /// The bytes of the value.
    package let bytes: [UInt8]

    /// Creates an attribute from text.
    init(name: AttributeName?, bytes: [UInt8]) { (self.name, self.bytes) = (name, bytes) }

    /// Creates an attribute from a number.
    init(name: AttributeName, number: Int64) { self.init(name: name, bytes: Array(String(number).utf8)) }
  }

  /// An error in the attribute options.
  package enum Problem: Error, Equatable {
    /// `--attribute` without a name, without `=`, or with a name that is not UTF-8.
    case notNameAndValue
    /// The name of the group is not valid.
    case badGroup(String)
    /// The class does not exist.
    case badClass(String)
    /// The name of the field is not valid.
    case badField
    /// A tag is empty or contains a comma.
    case badTag
    /// `--attribute` with the name `field`: an item cannot become a field, and a field cannot become an item.
    case fieldAsAttribute
  }

  /// The class, if one was given.
  package private(set) var itemClass: ItemClass?
  /// The group, if one was given.
  package var group: String?
  /// The field, if one was given. It narrows the selection of the other options, but selects nothing alone.
  package var field: String?
  /// The other attributes, in the order of the command line.
  package private(set) var entries: [Entry] = []
  /// The tags, as typed.
  package private(set) var tags: [[UInt8]] = []

  /// Creates a value without attributes, and optionally with a field.
  package init(field: String? = nil) { self.field = field }

  /// Creates a value from the attribute options of a command line.
  ///
  /// - Throws: the problem of the first option that cannot be used.
  package init(_ arguments: ParsedArguments) throws(Problem) {
    for given in arguments.options {
      guard let value = given.value else { continue }
      switch given.option.name {
      case AttributeOptions.itemClass.name: try set(.itemClass, value.bytes)
      case AttributeOptions.group.name: try set(.group, value.bytes)
      case AttributeOptions.field.name:
        guard let text = value.text, FieldName.isValid(text) else { throw .badField }
        field = text
      case AttributeOptions.tag.name:
        guard !value.bytes.isEmpty, !value.bytes.contains(UInt8(ascii: ",")) else { throw .badTag }
        tags.append(value.bytes)
      case AttributeOptions.serverOrService.name: entries.append(Entry(name: nil, bytes: value.bytes))
      case AttributeOptions.attribute.name:
        guard let equals = value.bytes.firstIndex(of: UInt8(ascii: "=")), equals > 0,
          let name = String(validating: value.bytes[..<equals], as: UTF8.self)
        else { throw .notNameAndValue }
        try set(AttributeName(name), Array(value.bytes[(equals + 1)...]))
      case AttributeOptions.port.name:
        // A number can be written in several ways (`0443`), but the attribute has one form.
        let number = value.text.flatMap { Int($0) }.map { Array(String($0).utf8) }
        entries.append(Entry(name: .port, bytes: number ?? value.bytes))
      case let option:
        if let known = AttributeOptions.plain.first(where: { $0.option.name == option }) {
          entries.append(Entry(name: known.name, bytes: value.bytes))
        }
      }
    }
  }

  /// The same without a field.
  package var withoutField: GivenAttributes {
    var item = self
    item.field = nil
    return item
  }

  /// The class and the attributes that belong to a primary key: the part that distinguishes one login from another.
  package var place: GivenAttributes {
    var place = GivenAttributes()
    let key =
      AttributeSchema.primaryKey(of: .internetPassword) + AttributeSchema.primaryKey(of: .genericPassword)
    place.itemClass = itemClass
    place.entries = entries.filter { entry in entry.name.map(key.contains) ?? true }
    return place
  }

  /// The other attributes, which are not part of a primary key.
  package var description: GivenAttributes {
    var description = self
    let place = place.entries
    description.entries.removeAll(where: place.contains)
    return description
  }

  /// True if the command line contains no attribute.
  package var isEmpty: Bool { itemClass == nil && group == nil && entries.isEmpty && tags.isEmpty }

  private mutating func set(_ name: AttributeName, _ bytes: [UInt8]) throws(Problem) {
    let text = String(decoding: bytes, as: UTF8.self)
    switch name {
    case .itemClass:
      guard let found = ItemName.itemClass(of: text) else { throw .badClass(text) }
      itemClass = found
    case .group:
      guard GroupName.isValid(text) else { throw .badGroup(text) }
      group = text
    case .field: throw .fieldAsAttribute
    default:
      entries.append(Entry(name: name, bytes: bytes))
    }
  }
}
