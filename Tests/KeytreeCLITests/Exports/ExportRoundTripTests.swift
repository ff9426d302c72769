import CommandSupport
import Encoding
import Foundation
import KeyringModel
import Secrets
import TestSupport
import Testing
@testable import Interchange
@testable import KeytreeCLI

/// Items that are imported from another program's file, exported, and imported again.
@Suite("Export and import again", .serialized)
struct ExportRoundTripTests {
  enum Format: String, CaseIterable, Sendable {
    case keytree, bitwarden, bitwardenCSV, chrome

    func prepare(_ items: [ExportedItem]) -> PreparedExport {
      switch self {
      case .keytree: PreparedExport(items.map { ExportEntry(main: $0) }, as: KeytreeExport())
      case .bitwarden: PreparedExport(ExportEntry.entries(of: items), as: BitwardenExport())
      case .bitwardenCSV: PreparedExport(ExportEntry.entries(of: items), as: BitwardenCSVExport())
      case .chrome: PreparedExport(ExportEntry.entries(of: items), as: ChromeExport())
      }
    }

    func read(_ file: borrowing SecretBytes) throws -> ImportDraft {
      switch self {
      case .keytree: try KeytreeImport.plan(file)
      case .bitwarden: try BitwardenImport.plan(file, showsUnknown: true)
      case .bitwardenCSV: try CSVImport.plan(file, showsUnknown: true).draft
      case .chrome: try CSVImport.plan(file).draft
      }
    }
  }

  static func items(_ store: ImportedStore) -> [ExportedItem] {
    store.records.values.sorted { $0.record.path < $1.record.path }
      .map { ExportedItem(record: $0.record, secret: $0.secret) }
  }

  static func store(_ source: ImportFormat) throws -> ImportedStore {
    let store = ImportedStore()
    store.apply(store.merge(try source.plan()))
    return store
  }

  @Test("an export in Keytree's own format is lossless", arguments: ImportFormat.allCases)
  func lossless(source: ImportFormat) throws {
    let before = try Self.store(source)
    let export = Format.keytree.prepare(Self.items(before))
    let losses = export.report.lossCount
    #expect(losses == 0 && export.report.entries.count == before.records.count)
    let after = ImportedStore()
    after.apply(after.merge(try Format.keytree.read(export.file)))
    #expect(Set(after.records.keys) == Set(before.records.keys))
    for (key, item) in before.records {
      let other = try #require(after.records[key])
      #expect(other.record.attributes == item.record.attributes, "\(item.record.path)")
      #expect(other.secret.isEqual(to: item.secret), "\(item.record.path)")
    }
  }

  @Test(
    "the losses in the report of an export are exactly the real ones",
    arguments: ImportFormat.allCases, Format.allCases)
  func honest(source: ImportFormat, format: Format) throws {
    let before = try Self.store(source)
    let items = Self.items(before)
    let export = format.prepare(items)
    let report = export.report
    #expect(report.entries.map(\.path).sorted() == items.map(\.record.path), "each item is reported once")
    // The file is imported into a store with the complete import code, and the stores are compared.
    let after = ImportedStore()
    after.apply(after.merge(try format.read(export.file)))
    let found = after.records.values
    let told = Dictionary(uniqueKeysWithValues: report.entries.map { ($0.path, $0.losses) })
    for item in items {
      let losses = try #require(told[item.record.path])
      let missing = Self.missing(item, in: Array(found))
      switch losses.first {
      case nil: #expect(missing == [], "\(item.record.path) is reported as complete")
      case .item: break
      case .secretChanged: #expect(missing == nil, "\(item.record.path) is unchanged")
      case .attributes(let names): #expect(missing == Set(names), "\(item.record.path)")
      }
    }
  }

  /// The attributes of an item that are missing in another store, compared with the item that has the most of them; nil
  /// if no item has the secret.
  private static func missing(
    _ item: ExportedItem, in found: [(record: ItemRecord, secret: SecretSlice)]
  ) -> Set<String>? {
    // A format that cannot mark a field as sealed writes it as an ordinary field. An import that was not asked to show
    // unknown fields cannot tell the two apart.
    var ofShown: Set<String>?
    if case .column(let title) = item.part,
      let shown = found.first(where: { says($0.record, item.secret.text) })?.record
    {
      let names = item.record.attributes.entries.filter { name, value in
        switch name {
        case .field: false
        case .label: value != .string(title)
        default: shown.attributes[name] != value && !isKept(name, value, shown.attributes, in: found)
        }
      }.map(\.name.text)
      ofShown = Set(names)
    }
    let same = found.filter { $0.secret.isEqual(to: item.secret) }
    let missing = same.map { other in
      let names = item.record.attributes.entries.filter { name, value in
        if isSame(name, other.record.attributes[name], value) { return false }
        if name == .field, let one = other.record.field, let two = item.record.field {
          return FieldNaming.parts(of: one).base != FieldNaming.parts(of: two).base
        }
        return !isKept(name, value, other.record.attributes, in: found)
      }.map(\.name.text)
      return Set(names + (other.record.itemClass == item.record.itemClass ? [] : ["class"]))
    }
    return (missing + [ofShown].compactMap { $0 }).min { $0.count < $1.count }
  }

  /// Returns true if an attribute was kept in another form: as a numbered attribute or as a field.
  private static func isKept(
    _ name: AttributeName, _ value: AttributeValue, _ other: Attributes,
    in found: [(record: ItemRecord, secret: SecretSlice)]
  ) -> Bool {
    guard let text = value.fieldText.map({ String(decoding: $0, as: UTF8.self) }) else { return false }
    // The path on a server is the end of the URL.
    if name == .path, case .string(let url)? = other["url"], url.hasSuffix(text) { return true }
    return found.contains { record, secret in
      let isShown = record.attributes.entries.contains {
        $0.name.text.hasPrefix("\(name.text)-") && $0.value == .string(text)
      }
      let isSealed = ExportedItem(record: record, secret: secret).part == .column(name.text)
      return isShown || isSealed && secret.text == text
    }
  }

  private static func says(_ record: ItemRecord, _ text: String) -> Bool {
    record.attributes.entries.contains {
      $0.value.contentBytes.map { String(decoding: $0, as: UTF8.self) } == text
    }
  }

  /// The texts of each entry in Bitwarden's JSON, read with an independent parser.
  private static func texts(_ value: Any) -> Set<String> {
    switch value {
    case let text as String: [text]
    case let number as NSNumber: [number.stringValue, number.boolValue ? "true" : "false"]
    case let list as [Any]: list.reduce(into: []) { $0.formUnion(texts($1)) }
    case let object as [String: Any]: object.values.reduce(into: []) { $0.formUnion(texts($1)) }
    default: []
    }
  }

  @Test(
    "an independent parser finds exactly the reported losses in Bitwarden's JSON",
    arguments: ImportFormat.allCases
  )
  func bitwarden(source: ImportFormat) throws {
    let items = Self.items(try Self.store(source))
    let export = Format.bitwarden.prepare(items)
    let report = export.report
    let data = Data(export.file.revealed)
    let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let all = Self.texts(json)
    for entry in report.entries {
      let item = try #require(items.first { $0.record.path == entry.path })
      let isLost = entry.isLost
      // A card and an identity are split into their members, and older passwords are written as JSON.
      let lines = CSVFields.fields(in: item.secret).map(\.value.text)
      let isThere =
        all.contains(item.secret.text) || (!lines.isEmpty && lines.allSatisfy(all.contains))
        || item.part == .column(ImportPart.history) || item.secret.isEmpty
      #expect(isThere == !isLost, "\(entry.path)")
      let missing = entry.losses.flatMap { loss -> [String] in
        if case .attributes(let names) = loss { names } else { [] }
      }
      if isLost || item.record.field != nil || item.isSecureNote { continue }
      for (name, value) in item.record.attributes.entries where !missing.contains(name.text) {
        let text = value.fieldText.map { String(decoding: $0, as: UTF8.self) } ?? ""
        let isCarried =
          all.contains(text) || all.contains { $0.contains(text) }
          || ["kind", "favorite"].contains(name.text)
        #expect(isCarried, "\(entry.path): \(name)")
      }
    }
  }

  @Test(
    "a file of a browser or of Bitwarden survives an import and an export",
    arguments: [
      (ImportFormat.csvBitwarden, Format.bitwardenCSV), (.bitwarden, .bitwarden),
    ])
  func flavours(source: ImportFormat, format: Format) throws {
    let before = ImportedStore()
    before.apply(before.merge(try source.plan(showsUnknown: true)))
    let export = format.prepare(Self.items(before))
    let lost = export.report.entries.filter { !$0.losses.isEmpty }.map(\.line)
    let after = ImportedStore()
    after.apply(after.merge(try format.read(export.file)))
    let different = before.records.values.filter { item in
      !after.records.values.contains { other in
        other.secret.isEqual(to: item.secret) && other.record.itemClass == item.record.itemClass
          && item.record.attributes.entries.allSatisfy { name, value in
            Self.isSame(name, other.record.attributes[name], value)
          }
      }
    }
    #expect(
      different.map(\.record.path).sorted().map(\.text)
        == lost.map { String($0.split(separator: ":")[0]) }.sorted())
  }

  // Flags are `1` in a CSV file and `true` in JSON.
  private static func isSame(_ name: AttributeName, _ one: AttributeValue?, _ other: AttributeValue) -> Bool {
    one == other || ["favorite", "reprompt"].contains(name) && one != nil
  }

  private func password(_ attributes: Attributes, _ secret: [UInt8]) -> ExportedItem {
    var random = SystemRandomNumberGenerator()
    let now = Timestamp(microseconds: 0)
    let record = ItemRecord(
      itemClass: attributes[.server] == nil ? .genericPassword : .internetPassword,
      id: ItemID(using: &random),
      revision: Revision(using: &random), created: now, modified: now, secretModified: now, group: "default",
      sealed: ContentDigest(of: []), attributes: attributes)
    return ExportedItem(record: record, secret: SecretSlice(SecretBytes(copying: secret)))
  }

  @Test("hostile names and secrets are kept unchanged or reported as lost", arguments: Format.allCases)
  func hostile(format: Format) throws {
    let names = [
      "=1+1", "+1", "-rf", "@x", "a\"b", "a,b", "a\nb", "a\r\nb", "\u{1B}]0;x\u{7}", "../../etc", "a\u{0}b",
      " a ",
      "é", "'", "\\", "\u{202E}x", "a: b",
    ]
    var items: [ExportedItem] = []
    for (index, name) in names.enumerated() {
      let host = AttributeValue.string("host\(index).example")
      items.append(
        password(
          [.server: host, .protocol: "https", .account: .string(name), .label: .string(name)],
          Array(name.utf8)))
    }
    items.append(password([.server: "bytes.example", .account: .bytes([0xFF])], [1, 2]))
    items.append(password([.server: "binary.example", .account: "x"], [0xFF, 0xFE]))
    let export = format.prepare(items)
    let report = export.report
    let draft = try format.read(export.file)
    for item in items {
      let losses = try #require(report.entries.first { $0.path == item.record.path }).losses
      let found = draft.items.filter {
        $0.secret.isEqual(to: item.secret) && $0.attributes[.account] == item.record.attributes[.account]
          && $0.attributes[.server] == item.record.attributes[.server]
      }
      #expect(losses.isEmpty == !found.isEmpty, "\(item.record.path): \(losses)")
    }
    if format == .keytree { #expect(report.lossCount == 0) } else { #expect(report.lossCount == 3) }
  }

  @Test("no path in a tree of pass leads out of the tree or is hidden")
  func hostileTree() throws {
    let names = [
      "..", ".", ".git", ".gpg-id", "a/../../b", "/etc/passwd", "", "a\u{0}b",
      String(repeating: "n", count: 600),
    ]
    var items = names.map { password([.service: .string($0), .account: .string($0)], Array("s".utf8)) }
    items += names.map {
      password([.service: "s", .account: "a", .passPath: .string($0)], Array("p\($0)".utf8))
    }
    let tree = PassExport(ExportEntry.entries(of: items))
    var paths: Set<[[UInt8]]> = []
    for file in tree.files {
      #expect(paths.insert(file.components).inserted)
      for component in file.components {
        #expect(
          !component.isEmpty && component.count <= 250 && !component.contains(0x2F) && !component.contains(0))
        let text = String(decoding: component, as: UTF8.self)
        #expect(![".", "..", ".git", ".gpg-id"].contains(text))
      }
    }
    #expect(tree.files.count == items.count)
  }

  @Test(
    "attributes that the user has set on fields are reported as lost",
    arguments: Format.allCases)
  func attributesOfFields(format: Format) throws {
    func item(_ attributes: Attributes, _ secret: String, isLocal: Bool = false) -> ExportedItem {
      var record = password(attributes, []).record
      record.isLocal = isLocal
      return ExportedItem(record: record, secret: SecretSlice(text: secret))
    }
    let items = [
      item([.server: "m.example", .protocol: "https", .account: "u"], "pw", isLocal: true),
      item(
        [
          .server: "m.example", .protocol: "https", .account: "u", .field: "pin", .label: "mine",
          .comment: "c",
        ], "1234"),
      item(
        [
          .server: "m.example", .protocol: "https", .account: "u", .field: "otp", .label: "seed",
          .comment: "s",
        ], "otpauth://totp/x?secret=ABC"),
    ]
    let export = format.prepare(items)
    let told = Dictionary(uniqueKeysWithValues: export.report.entries.map { ($0.path, $0.losses) })
    guard format != .keytree else {
      let lost = told.values.filter { !$0.isEmpty }.count
      #expect(lost == 0)
      let draft = try KeytreeImport.plan(export.file)
      #expect(draft.items.map(\.isLocal) == [true, false, false])
      return
    }
    #expect(told[items[0].record.path] == [.attributes([ExportComparison.place])])
    if format == .chrome { return }
    #expect(told[items[1].record.path] == [.attributes(["comment", "label"])])
    #expect(told[items[2].record.path] == [.attributes(["comment", "label"])])
    let tree = PassExport(ExportEntry.entries(of: items)).report.entries
    for item in items {
      let losses = try #require(tree.first { $0.path == item.record.path }).losses
      #expect(!losses.isEmpty, "\(item.record.path)")
    }
  }

  @Test("the note of the second entry of an account remains its note")
  func secondNote() throws {
    let store = ImportedStore()
    let text = "name,url,username,password,note\nn,https://a.example/,u,p1,n1\nn,https://a.example/,u,p2,n2\n"
    store.apply(store.merge(try CSVImport.plan(SecretBytes(copying: Array(text.utf8))).draft))
    let entries = ExportEntry.entries(of: Self.items(store))
    #expect(
      entries.map { "\($0.main?.secret.text ?? "") \($0.note?.secret.text ?? "")" }.sorted() == [
        "p1 n1", "p2 n2",
      ])
    let report = Format.bitwarden.prepare(Self.items(store)).report
    #expect(
      !report.entries.contains { $0.losses == [.secretChanged] || $0.losses == [.attributes(["account"])] })
  }

  @Test("an item in a tree of pass is renamed if its folder has the name of a file")
  func folderOfFile() {
    let paths = ["x", "x.gpg/a", "y.gpg/b", "y", "z.gpg/c"]
    let items = paths.map {
      password([.service: "s", .account: .string($0), .passPath: .string($0)], [0x61])
    }
    let tree = PassExport(ExportEntry.entries(of: items))
    let found = tree.files.map {
      $0.components.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
    }
    #expect(found == ["x", "x.gpg-2/a", "y.gpg/b", "y-2", "z.gpg/c"])
    let renamed = tree.report.entries.filter { entry in
      entry.losses.contains { loss in
        if case .attributes(let names) = loss { names.contains("pass") } else { false }
      }
    }
    #expect(renamed.count == 2)
  }

  @Test(
    "an attribute of 4,000 bytes is kept in every format that has a place for it", arguments: Format.allCases)
  func longAttribute(format: Format) throws {
    let long = AttributeValue.string(String(repeating: "l", count: 4000))
    let items = [
      password([.server: "a.example", .protocol: "https", .account: "a", .comment: long], [0x61]),
      password([.server: "b.example", .protocol: "https", .account: "b"], [0x62]),
    ]
    let export = format.prepare(items)
    let lost = export.report.entries.filter { !$0.losses.isEmpty }
    #expect(lost.map(\.losses) == (format == .chrome ? [[.attributes(["comment"])]] : []))
    let draft = try format.read(export.file)
    let whole = draft.items.filter { $0.attributes[.comment] == long }.count
    let sealed = draft.items.filter { $0.part == .column("comment") && $0.secret.count == 4000 }.count
    #expect(whole == (format == .keytree ? 1 : 0))
    #expect(sealed == (format == .bitwarden || format == .bitwardenCSV ? 1 : 0))
  }

  private func certificate() throws -> ExportedItem {
    var random = SystemRandomNumberGenerator()
    let now = Timestamp(microseconds: 0)
    let record = ItemRecord(
      itemClass: .certificate, id: ItemID(using: &random), revision: Revision(using: &random), created: now,
      modified: now, secretModified: now, group: "default", sealed: ContentDigest(of: []),
      attributes: [.label: "cert", .issuer: .bytes([0x30, 0xFF]), .serialNumber: .bytes([1])])
    return ExportedItem(record: record, secret: SecretSlice(SecretBytes(copying: [0x30, 0x82, 0xFF])))
  }

  @Test(
    "a certificate is reported as lost, except in Keytree's own format",
    arguments: Format.allCases)
  func certificates(format: Format) throws {
    let export = format.prepare([try certificate()])
    let lost = export.report.entries.filter(\.isLost).count
    #expect(lost == (format == .keytree ? 0 : 1))
    guard format == .keytree else { return }
    let draft = try KeytreeImport.plan(export.file)
    #expect(draft.items[0].attributes[.issuer] == .bytes([0x30, 0xFF]))
    #expect(
      draft.items[0].secret.publicBytes() == [0x30, 0x82, 0xFF] && draft.items[0].itemClass == .certificate)
  }

  @Test(
    "the forecast of an export reports no loss that the export does not have",
    arguments: ImportFormat.allCases, Format.allCases)
  func forecast(source: ImportFormat, format: Format) throws {
    let items = Self.items(try Self.store(source))
    let forecast = ExportForecast(items.map(\.record))
    let prepared =
      format == .keytree
      ? PreparedExport([], as: KeytreeExport()) : format.prepare(forecast.entries.flatMap(\.items))
    let real = format.prepare(items).report.entries
    let losses = Dictionary(uniqueKeysWithValues: real.map { ($0.path, $0.losses) })
    for entry in prepared.report.entries where !entry.losses.isEmpty {
      #expect(losses[entry.path]?.isEmpty == false, "\(entry.line)")
    }
    let tree = PassExport(ExportEntry.entries(of: items)).report.entries
    let treeLosses = Dictionary(uniqueKeysWithValues: tree.map { ($0.path, $0.losses) })
    for entry in PassExport(forecast.entries).report.entries where !entry.losses.isEmpty {
      #expect(treeLosses[entry.path]?.isEmpty == false, "\(entry.line)")
    }
  }

  @Test(
    "the account, the URL, the seed and the note of a login survive an export to pass and an import",
    arguments: [
      "login: x\n", "user: x\nurl: https://y.example\nfree text", "\n\n", "one\n  login: two\n", "text\n",
    ])
  func passLines(note: String) throws {
    let login: Attributes = [.server: "a.example", .account: "alice", "url": "https://a.example/login"]
    func field(_ name: String) -> Attributes {
      var attributes = login
      attributes["url"] = nil
      attributes[.field] = .string(name)
      return attributes
    }
    let items = [
      password(login, Array("pw".utf8)), password(field("note"), Array(note.utf8)),
      password(field("otp"), Array("otpauth://totp/x?secret=ABC".utf8)),
    ]
    let tree = PassExport(ExportEntry.entries(of: items))
    let lost = tree.report.entries.filter { !$0.losses.isEmpty }
    // A note that consists of line ends is not kept if other lines are taken.
    #expect(
      lost.map(\.line)
        == (note == "\n\n" ? ["a.example/alice --field note: an import changes its secret"] : []))
    let file = try #require(tree.files.first)
    let content = file.content.copy()
    let draft = PassImport.plan(PassEntry(components: file.components), plaintext: content)
    let texts = draft.items.map { "\($0.field ?? "")=\($0.secret.text)" }
    #expect(Set(texts).isSuperset(of: ["=pw", "otp=otpauth://totp/x?secret=ABC"]))
    #expect(note == "\n\n" || texts.contains("note=\(note)"), "\(texts)")
    #expect(
      draft.items[0].attributes[.account] == "alice"
        && draft.items[0].text("url") == "https://a.example/login")
  }

  @Test(
    "an account or a URL with a line end adds no line to a file of pass",
    arguments: ["x\notpauth://totp/evil", "x\ry"])
  func injectedLines(text: String) throws {
    let item = password(
      [.server: "a.example", .account: .string(text), "url": .string("https://a.example/\(text)")],
      Array("pw".utf8))
    let tree = PassExport([ExportEntry(main: item)])
    let file = try #require(tree.files.first)
    #expect(!file.content.text.contains(text) && tree.report.lossCount == 1)
  }
}
