internal import Encoding

/// The JSON members of an index line, ready for the canonical writer.
enum LineMembers {
  /// Returns the members of a record.
  ///
  /// - Throws: ``IndexLineError/attribute(_:)`` and ``IndexLineError/invalid(_:)`` if the record has attributes or a
  ///   group that no reader would accept.
  static func all(of record: ItemRecord) throws(IndexLineError) -> [JSONMember] {
    guard GroupName.isValid(record.group) else { throw .invalid(.group) }
    var members = [
      JSONMember("class", .string(record.itemClass.rawValue)),
      JSONMember("created", .string(record.created.rfc3339)),
      JSONMember("group", .string(record.group)),
      JSONMember("id", .string(record.id.hex)),
      JSONMember("modified", .string(record.modified.rfc3339)),
      JSONMember("revision", .string(record.revision.hex)),
      JSONMember("sealed", .string(record.sealed.base64url)),
      JSONMember("secretModified", .string(record.secretModified.rfc3339)),
    ]
    var custom: [JSONMember] = []
    guard record.attributes.count <= AttributeSchema.maximumCount else {
      throw .attribute(.tooMany(limit: AttributeSchema.maximumCount))
    }
    for entry in record.attributes.entries {
      let value = AttributeSchema.normalized(name: entry.name, value: entry.value)
      do throws(AttributeError) {
        try AttributeSchema.check(name: entry.name, value: value, class: record.itemClass)
      } catch {
        throw .attribute(error)
      }
      let member = JSONMember(entry.name.text, JSONValue(value))
      if AttributeSchema.isCustom(entry.name) { custom.append(member) } else { members.append(member) }
    }
    if !custom.isEmpty { members.append(JSONMember("custom", .object(custom))) }
    return members + record.unknown
  }
}
