internal import Encoding
package import KeyringModel
package import Secrets

/// The CSV file of a personal vault that Bitwarden imports. Encrypted fields and other attributes go into `fields`.
package struct BitwardenCSVExport: ExportFile {
  package let hasFields = true

  /// Creates the format, which has no settings.
  package init() {}

  package func refusal(of item: ExportedItem, in entry: ExportEntry) -> String? { item.refusalByText() }
  package func write(_ entries: [ExportEntry], fields: [[AttributeName]]) -> SecretBytes {
    var file = SecretBytes()
    file.append(
      "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp\r\n"
    )
    for (entry, names) in zip(entries, fields) { file.append(row: row(entry, names)) }
    return file
  }

  private func row(_ entry: ExportEntry, _ names: [AttributeName]) -> [SecretSlice] {
    let head = entry.head
    let isNote = entry.main?.isSecureNote == true
    let urls = BitwardenExport.urls(of: entry)
    var joined = SecretBytes()
    for (index, url) in urls.enumerated() {
      if index > 0 { joined.append(",") }
      joined.append(url)
    }
    func text(_ name: AttributeName) -> SecretSlice { SecretSlice(head?.text(name) ?? "") }
    let isFavorite = ["1", "true"].contains(head?.text("favorite"))
    return [
      text("folder"), SecretSlice(isFavorite ? "1" : ""), SecretSlice(isNote ? "note" : "login"),
      SecretSlice(entry.title), (isNote ? entry.main : entry.note)?.secret ?? .nothing,
      fields(of: entry, names), SecretSlice(head?.text("reprompt") ?? "0"), SecretSlice(joined),
      text(.account), isNote ? .nothing : entry.main?.secret ?? .nothing,
      entry.seeds.first?.secret ?? .nothing,
    ]
  }

  private func fields(of entry: ExportEntry, _ names: [AttributeName]) -> SecretSlice {
    var lines = SecretBytes()
    func add(_ name: String, _ value: SecretSlice) {
      if !lines.isEmpty { lines.append("\n") }
      lines.append("\(name): ")
      lines.append(value)
    }
    for (name, item) in entry.fields where !BitwardenExport.isURL(name) { add(name, item.secret) }
    for seed in entry.seeds.dropFirst() { add("otp", seed.secret) }
    for name in names {
      guard let bytes = entry.head?.record.attributes[name]?.fieldText else { continue }
      add(name.text, SecretSlice(SecretBytes(copying: bytes)))
    }
    var taken = SecretBytes()
    swap(&taken, &lines)
    return SecretSlice(taken)
  }

  package func read(_ file: borrowing SecretBytes, count: Int) -> [[PlannedItem]] {
    CSVImport.rows(file, count: count, showsUnknown: true)
  }
}
