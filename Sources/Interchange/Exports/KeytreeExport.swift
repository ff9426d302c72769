internal import Encoding
package import KeyringModel
package import Secrets

/// Keytree's own JSON format, which has no losses: class, group, all attributes, the exact secret and the times of
/// every item.
package struct KeytreeExport: ExportFile {
  package let hasFields = false

  /// Creates the format, which has no settings.
  package init() {}

  package func refusal(of item: ExportedItem, in entry: ExportEntry) -> String? { nil }

  package func write(_ entries: [ExportEntry], fields: [[AttributeName]]) -> SecretBytes {
    var json = JSONWriter()
    json.object { json in
      json.member("format", "keytree")
      json.member("version", .number(String(KeytreeImport.version)))
      json.array("items") { json in
        for item in entries.flatMap(\.items) { json.object { json in write(item, &json) } }
      }
    }
    return json.finish()
  }

  private func write(_ item: ExportedItem, _ json: inout JSONWriter) {
    json.member("class", item.record.itemClass.rawValue)
    json.member("group", item.record.group)
    json.member("created", item.record.created.rfc3339)
    json.member("modified", item.record.modified.rfc3339)
    if item.record.isLocal { json.member("local", .boolean(true)) }
    json.object("attributes") { json in
      for (name, value) in item.record.attributes.entries {
        switch value {
        case .integer(let number): json.member(name.text, .number(String(number)))
        case .boolean(let flag): json.member(name.text, .boolean(flag))
        case .date(let date): json.member(name.text, date.rfc3339)
        case .string(let text): json.member(name.text, text)
        case .bytes(let bytes): json.member(name.text, secret: SecretSlice(SecretBytes(copying: bytes)))
        }
      }
    }
    json.member("secret", secret: item.secret)
  }

  package func read(_ file: borrowing SecretBytes, count: Int) -> [[PlannedItem]] {
    var entries: [[PlannedItem]] = Array(repeating: [], count: count)
    // If the import fails, nothing is found, and everything is reported as lost. Each entry is one item here.
    guard let draft = try? KeytreeImport.plan(file) else { return entries }
    for item in draft.items {
      guard case .entry(let number, _) = item.source, entries.indices.contains(number - 1) else { continue }
      entries[number - 1].append(item)
    }
    return entries
  }
}
