internal import Encoding

/// The members of a JSON object, all of which must be read.
struct PolicyFields {
  private var members: [JSONMember]

  init(_ members: [JSONMember]) {
    self.members = members
  }

  /// Parses a whole file and checks its format first, because everything else may differ in a file of a newer version.
  init(parsing bytes: [UInt8], size: Int, format: Int64) throws(PolicyError) {
    let json: JSONValue
    do throws(JSONError) {
      json = try JSONValue(parsing: bytes, limits: JSONLimits(size: size, depth: 4))
    } catch {
      throw .malformed(error)
    }
    guard case .object(let members) = json else { throw .malformed(.unexpectedType(offset: 0)) }
    self.members = members
    let found = try takeInteger("format")
    guard found == format else { throw .unknownFormat(found) }
  }

  mutating func take(_ name: String) -> JSONValue? {
    guard let index = members.firstIndex(where: { $0.name.hasSameBytes(as: name) }) else { return nil }
    return members.remove(at: index).value
  }

  mutating func takeOptionalString(_ name: String) throws(PolicyError) -> String? {
    switch take(name) {
    case nil: return nil
    case .string(let text)?: return text
    default: throw .invalid(name)
    }
  }

  mutating func takeString(_ name: String) throws(PolicyError) -> String {
    guard let text = try takeOptionalString(name) else { throw .missing(name) }
    return text
  }

  mutating func takeInteger(_ name: String) throws(PolicyError) -> Int64 {
    switch take(name) {
    case nil: throw .missing(name)
    case .integer(let number)?: return number
    default: throw .invalid(name)
    }
  }

  mutating func takeOptionalStrings(_ name: String) throws(PolicyError) -> [String]? {
    guard let json = take(name) else { return nil }
    guard case .array(let elements) = json else { throw .invalid(name) }
    var strings: [String] = []
    for element in elements {
      guard case .string(let text) = element else { throw .invalid(name) }
      strings.append(text)
    }
    return strings
  }

  mutating func takeOptionalObject(_ name: String) throws(PolicyError) -> [JSONMember]? {
    switch take(name) {
    case nil: return nil
    case .object(let members)?: return members
    default: throw .invalid(name)
    }
  }

  mutating func takeObject(_ name: String) throws(PolicyError) -> [JSONMember] {
    guard let members = try takeOptionalObject(name) else { throw .missing(name) }
    return members
  }

  /// Returns the fingerprints in an array; `name` is for the error.
  static func fingerprints(_ json: JSONValue, of name: String) throws(PolicyError) -> [Fingerprint] {
    guard case .array(let elements) = json else { throw .invalid(name) }
    var fingerprints: [Fingerprint] = []
    for element in elements {
      guard case .string(let text) = element, let fingerprint = Fingerprint(text) else {
        throw .invalid(name)
      }
      fingerprints.append(fingerprint)
    }
    return fingerprints
  }

  /// Returns fingerprints as an array, sorted and without duplicates.
  static func json(of fingerprints: [Fingerprint]) -> JSONValue {
    .array(Set(fingerprints).sorted().map { .string($0.text) })
  }

  mutating func takeFingerprints(_ name: String) throws(PolicyError) -> [Fingerprint] {
    guard let json = take(name) else { throw .missing(name) }
    return try PolicyFields.fingerprints(json, of: name)
  }

  /// Throws if a member was not read.
  func finish() throws(PolicyError) {
    if let rest = members.first { throw .unexpected(rest.name) }
  }
}
