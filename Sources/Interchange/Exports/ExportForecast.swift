package import KeyringModel
internal import Secrets

/// The losses of an export that follow from the attributes of the items, before any secret is decrypted.
///
/// The entries have placeholders instead of secrets. An export of them loses the same attributes and items as the real
/// one. It does not show the losses that depend on the contents of a secret, such as one that is not UTF-8.
package struct ExportForecast {
  /// The entries with placeholders.
  package let entries: [ExportEntry]
  /// The items whose losses depend on their secrets, without losses.
  private let undecided: [ExportReport.Entry]

  /// Creates the forecast for items.
  ///
  /// - Parameter records: the items and fields in the order of the export.
  package init(_ records: [ItemRecord]) {
    let items = records.enumerated().map { number, record in
      ExportedItem(record: record, secret: ExportForecast.placeholder(number, for: record))
    }
    var (entries, undecided): ([ExportEntry], [ExportReport.Entry]) = ([], [])
    for entry in ExportEntry.entries(of: items) {
      if entry.dependsOnSecrets {
        undecided += entry.items.map { ExportReport.Entry(path: $0.record.path) }
      } else {
        entries.append(entry)
      }
    }
    (self.entries, self.undecided) = (entries, undecided)
  }

  /// Returns the forecast of a whole export.
  ///
  /// - Parameter report: the report of an export of ``entries``.
  package func report(_ report: ExportReport) -> ExportReport {
    ExportReport(entries: report.entries + undecided)
  }

  // Base32 letters, because a seed may be one, and no two are the same or contain each other.
  private static func placeholder(_ number: Int, for record: ItemRecord) -> SecretSlice {
    let letters = String(number).utf8.map {
      Character(Unicode.Scalar($0 - UInt8(ascii: "0") + UInt8(ascii: "A")))
    }
    let text = "PLACEHOLDER\(String(letters))Z"
    return SecretSlice(record.field == FieldName.oneTimePassword ? "otpauth://totp/?secret=\(text)" : text)
  }
}

extension ExportEntry {
  /// True if its losses cannot be known without the secrets: formats read the lines of a card and an identity, the
  /// older passwords, and a field that has the whole value of an attribute, such as a URL.
  fileprivate var dependsOnSecrets: Bool {
    let kind = main?.text(.kind)
    if kind == "card" || kind == "identity" { return true }
    let names = Set(items.flatMap { $0.record.attributes.names.map(\.text) })
    return fields.contains { name, _ in
      name == ImportPart.history || names.contains(name) || BitwardenExport.isURL(name)
    }
  }
}
