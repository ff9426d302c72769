package import Encoding
package import KeyringModel

/// The public facts about an item as JSON: the members of its line in the index, and `reference`.
package enum RecordMembers {
  /// Returns the members of a login: those of its item, and the names of its fields.
  package static func of(_ login: Login) -> [JSONMember] {
    let members = of(login.item)
    let names = login.fieldNames
    if names.isEmpty { return members }
    return members.filter { $0.name != "fields" } + [JSONMember("fields", .array(names.map { .string($0) }))]
  }

  /// Returns the members of a record, to be written in canonical form.
  ///
  /// - Parameter record: an item that was found or stored.
  package static func of(_ record: ItemRecord) -> [JSONMember] {
    var members = [
      JSONMember("class", .string(record.itemClass.rawValue)),
      JSONMember("created", .string(record.created.rfc3339)),
      JSONMember("group", .string(record.group)),
      JSONMember("id", .string(record.id.hex)),
      JSONMember("modified", .string(record.modified.rfc3339)),
      JSONMember("reference", .string(record.reference.text)),
      JSONMember("revision", .string(record.revision.hex)),
      JSONMember("sealed", .string(record.sealed.base64url)),
      JSONMember("secretModified", .string(record.secretModified.rfc3339)),
    ]
    var custom: [JSONMember] = []
    for entry in record.attributes.entries {
      let member = JSONMember(entry.name.text, JSONValue(entry.value))
      if AttributeSchema.isCustom(entry.name) { custom.append(member) } else { members.append(member) }
    }
    if !custom.isEmpty { members.append(JSONMember("custom", .object(custom))) }
    // Members that a newer version wrote are kept, but a name may occur only once in an object.
    return members + record.unknown.filter { $0.name != "reference" && $0.name != "secret" }
  }
}
