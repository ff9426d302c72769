package import KeyringModel
package import Secrets

/// A format that stores all entries in one file.
package protocol ExportFile {
  /// Returns the reason why the format cannot contain an item, or nil if it can.
  func refusal(of item: ExportedItem, in entry: ExportEntry) -> String?
  /// Returns a file with the entries.
  ///
  /// - Parameters:
  ///   - entries: the entries.
  ///   - fields: for each entry, the names of the attributes that need a field of their own.
  func write(_ entries: [ExportEntry], fields: [[AttributeName]]) -> SecretBytes
  /// Returns the items that an import reads from a written file, for each entry.
  func read(_ file: borrowing SecretBytes, count: Int) -> [[PlannedItem]]
  /// True if the format supports fields with any name.
  var hasFields: Bool { get }
}

/// An export in memory: the file, and the report of losses.
package struct PreparedExport: ~Copyable {
  package var file: SecretBytes
  package var report: ExportReport

  /// Creates an export. The file is written at most twice: attributes that an import would not find in the first file
  /// become fields in the second.
  package init(_ entries: [ExportEntry], as format: some ExportFile) {
    var report = ExportReport(entries: [])
    var carried: [ExportEntry] = []
    for entry in entries {
      var refused: Set<ItemPlace> = []
      for item in entry.items {
        guard let reason = format.refusal(of: item, in: entry) else { continue }
        refused.insert(item.record.place)
        report.entries.append(ExportReport.Entry(item: item.record.primaryKey, losses: [.item(reason)]))
      }
      let left = entry.without(refused)
      if left.head != nil { carried.append(left) }
    }
    var fields: [[AttributeName]] = carried.map { _ in [] }
    file = format.write(carried, fields: fields)
    var found = PreparedExport.losses(carried, format.read(file, count: carried.count))
    if format.hasFields {
      for (index, losses) in found.enumerated() {
        fields[index] = losses.first.map(PreparedExport.names) ?? []
      }
      if fields.contains(where: { !$0.isEmpty }) {
        file = format.write(carried, fields: fields)
        found = PreparedExport.losses(carried, format.read(file, count: carried.count))
      }
    }
    for (entry, losses) in zip(carried, found) {
      for (item, losses) in zip(entry.items, losses) {
        report.entries.append(ExportReport.Entry(item: item.record.primaryKey, losses: losses))
      }
    }
    self.report = report
  }

  /// Returns the losses of each item of each entry, in the order of `items`.
  package static func losses(_ entries: [ExportEntry], _ imported: [[PlannedItem]]) -> [[[ExportLoss]]] {
    zip(entries, imported).map { entry, imported in
      let comparison = ExportComparison(imported: imported)
      let plain = ([entry.main, entry.note].compactMap { $0 } + entry.seeds).map { comparison.losses(of: $0) }
      return plain + entry.fields.map { comparison.losses(of: $0.item, field: $0.name) }
    }
  }

  private static func names(_ losses: [ExportLoss]) -> [AttributeName] {
    losses.flatMap { loss -> [AttributeName] in
      guard case .attributes(let names) = loss else { return [] }
      return names.filter { !["class", "group", ExportComparison.place].contains($0) }.map {
        AttributeName($0)
      }
    }
  }
}

extension ExportEntry {
  /// Returns the entry without the items at these places.
  fileprivate func without(_ places: Set<ItemPlace>) -> ExportEntry {
    if places.isEmpty { return self }
    func isKept(_ item: ExportedItem) -> Bool { !places.contains(item.record.place) }
    var entry = ExportEntry(main: main.flatMap { isKept($0) ? $0 : nil })
    entry.note = note.flatMap { isKept($0) ? $0 : nil }
    entry.seeds = seeds.filter(isKept)
    entry.fields = fields.filter { isKept($0.item) }
    return entry
  }
}

extension ExportedItem {
  /// Returns the reason why a UTF-8 text format for passwords cannot contain the item, or nil if it can.
  func refusalByText() -> String? {
    switch record.itemClass {
    case .certificate: "this format cannot contain certificates"
    case .key: "this format cannot contain keys"
    default: isText ? nil : "its secret is not UTF-8 text"
    }
  }

  /// The URL to write: the one of the attribute `url` if it agrees with the other attributes, else one built from them.
  package var address: String? {
    let given = text(.url)
    guard let server = text(.server) else { return given }
    let scheme = text(.protocol)
    let port: Int64? = if case .integer(let number)? = record.attributes[.port] { number } else { nil }
    if let given {
      let url = unsafe Array(given.utf8).withUnsafeBytes { unsafe ImportedURL($0) }
      let isSame =
        url.host.map { $0.host.elementsEqual(server.utf8) && $0.port == port } == true
        && url.scheme.map { String(decoding: $0, as: UTF8.self) } == scheme
      if isSame { return given }
    }
    let host = server.utf8.contains(UInt8(ascii: ":")) ? "[\(server)]" : server
    let path = text(.path) ?? ""
    let slash = path.isEmpty || path.hasPrefix("/") ? "" : "/"
    return (scheme.map { "\($0)://" } ?? "") + host + (port.map { ":\($0)" } ?? "") + slash + path
  }
}
