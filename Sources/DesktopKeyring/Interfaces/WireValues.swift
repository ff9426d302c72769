internal import Secrets
package import SecretService
package import SessionBus

/// Converts between values on the bus and those of the service.
package enum WireValues {
  /// The signature of a secret.
  static let secretSignature = "(oayays)"

  // MARK: From the bus

  /// Returns a text.
  static func text(_ value: BusValue) throws -> String {
    guard case .string(let text) = value else { throw mismatch("s") }
    return text
  }

  /// Returns a flag.
  static func flag(_ value: BusValue) throws -> Bool {
    guard case .boolean(let flag) = value else { throw mismatch("b") }
    return flag
  }

  /// Returns a path.
  static func path(_ value: BusValue) throws -> ObjectPath {
    guard case .objectPath(let text) = value else { throw mismatch("o") }
    return ObjectPath(text)
  }

  /// Returns the paths in an array.
  ///
  /// - Parameter value: A value of a client.
  /// - Throws: `ReplyError` if the value has another type.
  package static func paths(_ value: BusValue) throws -> [ObjectPath] {
    guard case .array("o", let members) = value else { throw mismatch("ao") }
    return try members.map(path)
  }

  /// Returns the attributes in a dictionary of strings.
  ///
  /// - Parameter value: A value of a client.
  /// - Throws: `ReplyError` if the value has another type.
  package static func attributes(_ value: BusValue) throws -> ServiceAttributes {
    guard case .array("{ss}", let entries) = value else { throw mismatch("a{ss}") }
    // Sorting more of them would keep other clients waiting.
    guard entries.count <= ServiceLimits.pairsPerSearch else {
      throw ReplyError.invalidArguments("there are more than \(ServiceLimits.pairsPerSearch) attributes")
    }
    var pairs: [(name: String, value: String)] = []
    for case .entry(.string(let name), .string(let value)) in entries { pairs.append((name, value)) }
    return ServiceAttributes(pairs)
  }

  /// Returns a dictionary of variants. Of several entries with one name, the last one is used.
  ///
  /// - Parameter value: A value of a client.
  /// - Throws: `ReplyError` if the value has another type.
  package static func dictionary(_ value: BusValue) throws -> [String: BusValue] {
    guard case .array("{sv}", let entries) = value else { throw mismatch("a{sv}") }
    var result: [String: BusValue] = [:]
    for case .entry(.string(let name), .variant(let value)) in entries { result[name] = value }
    return result
  }

  /// Returns a secret.
  ///
  /// - Parameter value: A value of a client.
  /// - Throws: `ReplyError` if the value has another type.
  package static func secret(_ value: BusValue) throws -> WireSecret {
    guard case .structure(let members) = value, members.count == 4,
      case .objectPath(let session) = members[0],
      case .bytes(let parameters) = members[1], case .bytes(let content) = members[2],
      case .string(let contentType) = members[3]
    else { throw mismatch(secretSignature) }
    return WireSecret(
      session: ObjectPath(session), parameters: parameters.publicBytes(), value: content,
      contentType: contentType)
  }

  /// Returns the input of an algorithm.
  ///
  /// - Parameter value: A value of a client.
  /// - Throws: `ReplyError` if the value is not a variant.
  package static func sessionInput(_ value: BusValue) throws -> SessionInput {
    guard case .variant(let content) = value else { throw mismatch("v") }
    return switch content {
    case .string: .text
    case .bytes(let bytes): .bytes(bytes.publicBytes())
    default: .other
    }
  }

  private static func mismatch(_ signature: String) -> ReplyError {
    .invalidArguments("the value must have the type \(signature)")
  }

  // MARK: To the bus

  static func value(_ path: ObjectPath) -> BusValue { .objectPath(path.text) }

  static func value(_ paths: [ObjectPath]) -> BusValue { .objectPaths(paths.lazy.map(\.text)) }

  /// Returns attributes as a dictionary of strings.
  ///
  /// - Parameter attributes: The attributes.
  package static func value(_ attributes: ServiceAttributes) -> BusValue {
    .strings(attributes.pairs.lazy.map { ($0.name, $0.value) })
  }

  /// Returns a secret as a structure.
  ///
  /// - Parameter secret: The secret.
  package static func value(_ secret: WireSecret) -> BusValue {
    .structure([
      value(secret.session), .bytes(SecretSlice(SecretBytes(copying: secret.parameters))),
      .bytes(secret.value),
      .string(secret.contentType),
    ])
  }

  static func value(_ secrets: [ItemSecret]) -> BusValue {
    .array(element: "{o\(secretSignature)}", secrets.map { .entry(value($0.item), value($0.secret)) })
  }

  static func value(_ output: SessionOutput) -> BusValue {
    switch output {
    case .text: .variant(.string(""))
    case .bytes(let bytes): .variant(.bytes(SecretSlice(SecretBytes(copying: bytes))))
    }
  }

  static func value(_ result: PromptResult) -> BusValue {
    switch result {
    case .paths(let paths): .variant(value(paths))
    case .path(let path): .variant(value(path))
    case .nothing: .variant(.string(""))
    }
  }

  static func entry(_ property: ChangedProperty) -> (String, BusValue) {
    switch property {
    case .collections(let paths): ("Collections", value(paths))
    case .items(let paths): ("Items", value(paths))
    case .label(let text): ("Label", .string(text))
    case .locked(let flag): ("Locked", .boolean(flag))
    case .modified(let time): ("Modified", .uint64(time))
    case .attributes(let attributes): ("Attributes", value(attributes))
    }
  }
}
