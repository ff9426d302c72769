internal import Encoding

/// The members of the JSON object of an index line, while it is being read.
struct LineFields {
  private(set) var itemClass: ItemClass?
  private(set) var id: ItemID?
  private(set) var revision: Revision?
  private(set) var created: Timestamp?
  private(set) var modified: Timestamp?
  private(set) var secretModified: Timestamp?
  private(set) var group: String?
  private(set) var sealed: ContentDigest?
  private(set) var unknown: [JSONMember] = []
  private var entries: [(name: AttributeName, value: AttributeValue)] = []
  /// The classes that may have all attributes read so far. They are checked later, because `class` comes after some of
  /// the attributes.
  private var classes: ItemClass.Members = .all

  init(_ line: UnsafeRawBufferPointer, limits: JSONLimits) throws(IndexLineError) {
    guard line.count > 0 else { throw .empty }
    guard line.count <= limits.size else { throw .tooLong(limit: limits.size) }
    entries.reserveCapacity(8)
    var cursor = try json(unsafe try JSONCursor(line, limits: limits))
    var keys = try json(try cursor.openObject())
    while let key = try json(try cursor.nextKey(&keys)) {
      let known = unsafe cursor.withBytes(of: key) { unsafe KnownNames.entry(for: $0) }
      switch known?.role {
      case .attribute(let kind, let members):
        classes.formIntersection(members)
        try readAttribute(known?.name ?? "", kind, from: &cursor)
      case .record(let field):
        try read(field, named: known?.name ?? "", from: &cursor)
      case nil:
        unknown.append(JSONMember(cursor.string(of: key), try json(try cursor.takeValue())))
      }
    }
    try json(try cursor.finish())
  }

  /// Returns all attributes, after checking that items of the class may have them.
  func attributes(of itemClass: ItemClass) throws(IndexLineError) -> Attributes {
    if !classes.contains(itemClass.member) {
      let stranger = entries.first { !AttributeSchema.applies($0.name, to: itemClass) }
      throw .attribute(.wrongClass(stranger?.name ?? "", itemClass))
    }
    return Attributes(unsorted: entries)
  }

  // MARK: Members

  private mutating func read(
    _ field: KnownNames.RecordField, named name: AttributeName, from cursor: inout JSONCursor
  ) throws(IndexLineError) {
    if field == .custom { return try readCustom(from: &cursor) }
    guard cursor.peek() == UInt8(ascii: "\"") else { throw .invalid(name) }
    let text = try json(try cursor.takeText())
    let isValid: Bool
    switch field {
    case .id:
      id = unsafe cursor.withBytes(of: text) { unsafe ItemID(digits: $0) }
      isValid = id != nil
    case .revision:
      revision = unsafe cursor.withBytes(of: text) { unsafe Revision(digits: $0) }
      isValid = revision != nil
    case .created:
      created = moment(text, in: cursor)
      isValid = created != nil
    case .modified:
      modified = moment(text, in: cursor)
      isValid = modified != nil
    case .secretModified:
      secretModified = moment(text, in: cursor)
      isValid = secretModified != nil
    case .sealed:
      sealed = unsafe cursor.withBytes(of: text) { unsafe ContentDigest(base64url: $0) }
      isValid = sealed != nil
    case .itemClass:
      itemClass = ItemClass(rawValue: cursor.string(of: text))
      isValid = itemClass != nil
    case .group:
      let value = cursor.string(of: text)
      group = value
      isValid = GroupName.isValid(value)
    case .custom:
      isValid = false
    }
    guard isValid else { throw .invalid(name) }
  }

  private func moment(_ text: JSONCursor.Text, in cursor: JSONCursor) -> Timestamp? {
    unsafe cursor.withBytes(of: text) { unsafe Timestamp(rfc3339: $0) }
  }

  private mutating func readCustom(from cursor: inout JSONCursor) throws(IndexLineError) {
    guard cursor.peek() == UInt8(ascii: "{") else { throw .invalid("custom") }
    var keys = try json(try cursor.openObject())
    while let key = try json(try cursor.nextKey(&keys)) {
      let name = AttributeName(cursor.string(of: key))
      guard AttributeSchema.isCustom(name) else { throw .misplaced(name) }
      try attribute(try AttributeSchema.checkCustom(name))
      try readAttribute(name, .string, from: &cursor)
    }
  }

  private mutating func readAttribute(
    _ name: AttributeName, _ kind: AttributeKind, from cursor: inout JSONCursor
  ) throws(IndexLineError) {
    let value: AttributeValue
    switch cursor.peek() {
    case UInt8(ascii: "\""):
      let text = try json(try cursor.takeText())
      value = AttributeSchema.normalized(.string(cursor.string(of: text)), as: kind)
    case UInt8(ascii: "{"):
      value = .bytes(try takeBytes(name, from: &cursor))
    case UInt8(ascii: "t"):
      try json(try cursor.takeLiteral("true"))
      value = .boolean(true)
    case UInt8(ascii: "f"):
      try json(try cursor.takeLiteral("false"))
      value = .boolean(false)
    case let byte? where byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte):
      value = .integer(try json(try cursor.takeInteger()))
    default:
      throw .invalid(name)
    }
    guard kind.accepts(value) else { throw .invalid(name) }
    try attribute(try AttributeSchema.checkSize(of: value, name: name))
    try attribute(try AttributeSchema.checkField(name: name, value: value))
    guard entries.count < AttributeSchema.maximumCount else {
      throw .attribute(.tooMany(limit: AttributeSchema.maximumCount))
    }
    entries.append((name, value))
  }

  /// Reads a bytes value: an object with the single member `base64`.
  private func takeBytes(
    _ name: AttributeName, from cursor: inout JSONCursor
  ) throws(IndexLineError) -> [UInt8] {
    var keys = try json(try cursor.openObject())
    guard let key = try json(try cursor.nextKey(&keys)),
      unsafe cursor.withBytes(of: key, { unsafe $0.elementsEqual("base64".utf8) }),
      cursor.peek() == UInt8(ascii: "\"")
    else { throw .invalid(name) }
    let text = try json(try cursor.takeText())
    guard let bytes = unsafe cursor.withBytes(of: text, { unsafe Base64.decode($0, as: .standard) }),
      try json(try cursor.nextKey(&keys)) == nil
    else { throw .invalid(name) }
    return bytes
  }

  // MARK: Errors

  private func json<R>(_ body: @autoclosure () throws(JSONError) -> R) throws(IndexLineError) -> R {
    do throws(JSONError) { return try body() } catch { throw .json(error) }
  }

  private func attribute(_ body: @autoclosure () throws(AttributeError) -> Void) throws(IndexLineError) {
    do throws(AttributeError) { try body() } catch { throw .attribute(error) }
  }
}
