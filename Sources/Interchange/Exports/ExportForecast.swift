package import KeyringModel
internal import Secrets

/// The losses of an export that follow from the attributes of the items, before any secret is decrypted.
///
/// The entries have placeholders instead of secrets. An export of them loses the same attributes and items as the real
/// one. It does not show the losses that depend on the contents of a secret, such as one that is not UTF-8.
package struct ExportForecast {
  /// The entries with placeholders.
  package let entries: [ExportEntry]
  /// The fields whose losses depend on their secrets, without losses.
  private let undecided: [ExportReport.Entry]

  /// Creates the forecast for items.
  ///
  /// - Parameter records: the items and fields in the order of the export.
  package init(_ records: [ItemRecord]) {
    let items = records.enumerated().map { number, record in
      ExportedItem(record: record, secret: ExportForecast.placeholder(number, for: record))
    }
    var known: [ExportedItem] = []
    var undecided: [ExportReport.Entry] = []
    for entry in ExportEntry.entries(of: items) {
      let names = entry.fieldsReadByFormats
      for item in entry.items {
        if let field = item.record.field, names.contains(field) {
          undecided.append(ExportReport.Entry(item: item.record.primaryKey))
        } else {
          known.append(item)
        }
      }
    }
    entries = ExportEntry.entries(of: known)
    self.undecided = undecided
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
  /// The names of the fields whose losses cannot be known without their secrets: the older passwords, and fields that can
  /// have the whole value of an attribute, such as a URL.
  fileprivate var fieldsReadByFormats: Set<String> {
    let names = Set(items.flatMap { $0.record.attributes.names.map(\.text) })
    return Set(
      fields.map(\.name).filter { name in
        name == ImportPart.history || names.contains(name) || BitwardenExport.isURL(name)
      })
  }
}
