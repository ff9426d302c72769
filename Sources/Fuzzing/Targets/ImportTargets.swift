internal import Encoding
internal import Interchange
internal import KeyringModel
internal import Secrets

extension FuzzTarget {
  /// The readers of files of other programs.
  static let importTargets = [
    FuzzTarget("csv", csv), FuzzTarget("archive", archive), FuzzTarget("pass-entry", passEntry),
    FuzzTarget("format", format),
    source("import-csv") { try CSVImport.plan($0).draft },
    source("import-bitwarden") { try BitwardenImport.plan($0) },
    source("import-enpass") { try EnpassImport.plan($0) },
    source("import-keytree") { try KeytreeImport.plan($0) },
    source("import-keepass") { try KeePassImport.plan($0) },
    source("import-netrc") { try NetrcImport.plan($0) },
    source("import-keychain-dump") { try KeychainDumpImport.plan($0) },
    source("import-1password") { try OnePasswordImport.plan($0.copy()) },
    FuzzTarget("export", export),
  ]

  /// Returns the target for an importer.
  private static func source(
    _ name: String, _ plan: @escaping @Sendable (borrowing SecretBytes) throws -> ImportDraft
  ) -> FuzzTarget {
    FuzzTarget(name) { bytes in
      let file = SecretBytes(copying: bytes)
      guard let draft = parsed({ try plan(file) }) else { return }
      check(draft)
      guard let again = parsed({ try plan(file) }) else { return expect(false, "a file is accepted twice") }
      expect(again.items.count == draft.items.count, "a file always gives the same items")
      expect(again.findings == draft.findings, "a file always gives the same findings")
    }
  }

  private static func check(_ draft: ImportDraft) {
    for login in draft.logins {
      expect(!login.items.isEmpty, "a login has an item")
      for item in login.items {
        let path = ItemPath(item.primaryKey(in: GroupName.default))
        expect(ItemPath(validating: path.text) == path, "the path of an imported item is valid")
      }
    }
    let merge = ImportMerge<Never>(
      group: GroupName.default, existing: { _ in nil }, hasSecret: { _, _ in false })
    let report = merge.plan(draft).report
    expect(
      report.entries.count == draft.items.count + draft.findings.count, "a merge reports each item once")
  }

  /// Exports the items of a file in Keytree's own format in all other formats.
  @Sendable private static func export(_ bytes: [UInt8]) {
    let file = SecretBytes(copying: bytes)
    guard let draft = parsed({ () throws(SourceError) in try KeytreeImport.plan(file) }) else { return }
    var items: [ItemPath: ExportedItem] = [:]
    for item in draft.items {
      let record = record(of: item)
      items[record.path] = ExportedItem(record: record, secret: item.secret)
    }
    let entries = ExportEntry.entries(of: items.values.sorted { $0.record.path < $1.record.path })
    for format in [BitwardenExport(), BitwardenCSVExport(), ChromeExport()] as [any ExportFile] {
      let prepared = PreparedExport(entries, as: format)
      expect(prepared.report.entries.count == items.count, "an export reports each item once")
    }
    expect(PassExport(entries).report.entries.count == items.count, "an export reports each item once")
  }

  private static func record(of item: PlannedItem) -> ItemRecord {
    let time = Timestamp(microseconds: 0)
    var generator = SystemRandomNumberGenerator()
    return ItemRecord(
      itemClass: item.itemClass, id: ItemID(using: &generator), revision: Revision(using: &generator),
      created: time, modified: time, secretModified: time, group: GroupName.default,
      sealed: ContentDigest(of: []), attributes: item.attributes)
  }

  @Sendable private static func csv(_ bytes: [UInt8]) {
    let file = SecretBytes(copying: bytes)
    guard let table = parsed({ () throws(CSVError) in try CSVReader.read(file) }) else { return }
    var written = SecretBytes()
    // Commas in the header would make the reader choose another separator.
    written.append(row: table.header.indices.map { SecretSlice("c\($0)") })
    for row in 0..<table.rowCount {
      written.append(row: table.header.indices.map { table.field(row: row, column: $0) })
    }
    // A row with one empty field is written as an empty line, which is not a row.
    guard table.header.count > 1 else { return }
    guard let again = parsed({ () throws(CSVError) in try CSVReader.read(written) }) else {
      return expect(false, "a written table can be read")
    }
    expect(again.rowCount == table.rowCount, "a written table has the same rows")
    for row in 0..<table.rowCount {
      for column in table.header.indices {
        expect(
          again.field(row: row, column: column).isEqual(to: table.field(row: row, column: column)),
          "a written field is the same")
      }
    }
  }

  @Sendable private static func archive(_ bytes: [UInt8]) {
    let limit = 1 << 20
    guard let inflation = parsed({ () throws(SourceError) in try Inflation() }) else {
      return expect(false, "zlib is installed")
    }
    let archive = parsed { () throws(ArchiveProblem) in
      try ArchiveReader(SecretBytes(copying: bytes), unpackingWith: inflation)
    }
    guard let archive else { return }
    for member in archive.members {
      expect(archive[member.name] != nil, "a member is found by its name")
      let content = parsed { () throws(ArchiveProblem) in try archive.content(of: member, limit: limit) }
      if let content {
        expect(content.count == member.size && content.count <= limit, "a member has its size")
      }
    }
  }

  @Sendable private static func passEntry(_ bytes: [UInt8]) {
    // The first line is the path below the folder of the items.
    let end = bytes.firstIndex(of: 0x0A) ?? bytes.count
    let path = String(decoding: bytes[..<end], as: UTF8.self)
    let plaintext = SecretBytes(copying: bytes[min(end + 1, bytes.count)...])
    if path.contains(where: { $0 != "/" }) { check(AdoptedFile.plan(path, plaintext: plaintext)) }
    let secret = AdoptedFile.secret(plaintext)
    expect(secret.count == plaintext.count || AdoptedFile.hasOneLine(plaintext), "only a line end is removed")
  }

  @Sendable private static func format(_ bytes: [UInt8]) {
    let file = SecretBytes(copying: bytes)
    let first = parsed { () throws(SourceError) in try SourceFormat.detect(file) }
    let second = parsed { () throws(SourceError) in try SourceFormat.detect(file) }
    expect(first == second, "a file always has the same format")
  }
}
