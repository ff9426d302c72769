internal import Encoding
package import KeyringModel
package import Secrets

/// The CSV file that Chrome, Edge and Brave import: `name,url,username,password,note`.
package struct ChromeExport: ExportFile {
  package let hasFields = false

  /// Creates the format, which has no settings.
  package init() {}

  package func refusal(of item: ExportedItem, in entry: ExportEntry) -> String? {
    if let reason = item.refusalByText() { return reason }
    guard let main = entry.main, !main.isSecureNote else { return "browsers store only passwords" }
    switch item.part {
    case .oneTimePassword: return "browsers cannot store one-time passwords"
    case .column("url"), .secret: break
    case .note where entry.note?.record.place == item.record.place: break
    case .note, .column: return "browsers cannot store additional fields"
    }
    // Chrome skips rows without a URL.
    let hasAddress = address(of: main) != nil || entry.fields.contains { $0.name == "url" }
    return hasAddress ? nil : "browsers store a password only for a web address"
  }

  package func write(_ entries: [ExportEntry], fields: [[AttributeName]]) -> SecretBytes {
    var file = SecretBytes()
    file.append("name,url,username,password,note\r\n")
    for entry in entries {
      guard let main = entry.main else { continue }
      let url = entry.fields.first { $0.name == "url" }?.item.secret ?? SecretSlice(address(of: main) ?? "")
      file.append(row: [
        SecretSlice(entry.title), url, SecretSlice(main.text(.account) ?? ""), main.secret,
        entry.note?.secret ?? .nothing,
      ])
    }
    return file
  }

  // A server without a protocol is treated as a web server.
  private func address(of main: ExportedItem) -> String? {
    guard let address = main.address else { return nil }
    if main.text(.server) != nil, main.text(.protocol) == nil, !address.contains(bytesOf: "://") {
      return "https://\(address)"
    }
    return ["http://", "https://", "android://"].contains { address.hasPrefix($0) } ? address : nil
  }

  package func read(_ file: borrowing SecretBytes, count: Int) -> [[PlannedItem]] {
    CSVImport.rows(file, count: count, showsUnknown: false)
  }
}

extension CSVImport {
  /// Returns the imported items of each row. If the import fails, it returns none, and everything is reported as lost.
  package static func rows(_ file: borrowing SecretBytes, count: Int, showsUnknown: Bool) -> [[PlannedItem]] {
    var rows: [[PlannedItem]] = Array(repeating: [], count: count)
    guard let draft = try? plan(file, showsUnknown: showsUnknown).draft else { return rows }
    for item in draft.items {
      guard case .row(let number) = item.source, rows.indices.contains(number - 2) else { continue }
      rows[number - 2].append(item)
    }
    return rows
  }
}
