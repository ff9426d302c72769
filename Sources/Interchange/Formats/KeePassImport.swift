internal import KeyringModel
package import Secrets

/// The import of the XML that KeePass 2 and KeePassXC export.
///
/// - `Title`, `UserName`, `Password`, `URL` and `Notes` become a password as in ``ImportedEntry``. The groups of an
///   entry, joined by `/`, become the attribute `folder`.
/// - Strings with other names become fields; those for one-time passwords become seeds (``KeePassSeeds``). Those of a
///   passkey of KeePassXC are a loss.
/// - Strings that are protected in memory are always encrypted. No part of a protected URL is shown.
/// - References to other entries of the file are replaced by their values; other references are losses.
/// - Older versions of an entry are stored encrypted as JSON, and so are attached files up to the size limit of a
///   secret.
/// - Entries in the recycle bin are skipped.
package struct KeePassImport {
  private var draft = ImportDraft()
  private var number = 0
  private let binaries: [String: XMLNode]
  private var references: KeePassReferences
  private let recycleBin: [UInt8]?
  private let hasRecycleBin: Bool
  // Content under `Meta` is unpacked once, even if many entries refer to it.
  private var contents: [String: SecretSlice?] = [:]
  private var room = AttachmentRoom()
  private let inflation: Inflation
  private let showsUnknown: Bool

  /// Plans all entries.
  ///
  /// - Parameters:
  ///   - bytes: the content of the file.
  ///   - showsUnknown: true if strings that are not protected become custom attributes, which are public.
  /// - Throws: `xml`, `otherFormat`; `notInstalled` for expat or zlib, even if the file has nothing compressed.
  package static func plan(
    _ bytes: borrowing SecretBytes, showsUnknown: Bool = false
  ) throws(SourceError) -> ImportDraft {
    let document = try XMLReader.read(bytes)
    guard document.name == "KeePassFile", let root = document["Root"] else {
      throw .otherFormat(expected: "an XML export of KeePass")
    }
    var run = KeePassImport(
      meta: document["Meta"], root: root, inflation: try Inflation(), showsUnknown: showsUnknown)
    for group in root.all("Group") { run.readGroup(group, folder: [], depth: 0) }
    return run.draft
  }

  private init(meta: XMLNode?, root: XMLNode, inflation: Inflation, showsUnknown: Bool) {
    self.inflation = inflation
    references = KeePassReferences(root)
    let isOff = meta?["RecycleBinEnabled"]?.text.isEqual(toText: "False") == true
    hasRecycleBin = !isOff
    self.showsUnknown = showsUnknown
    var binaries: [String: XMLNode] = [:]
    for binary in meta?["Binaries"]?.all("Binary") ?? [] {
      if let id = binary.attribute("ID") { binaries[id] = binary }
    }
    self.binaries = binaries
    recycleBin = meta?["RecycleBinUUID"]?.text.publicBytes()
  }

  private mutating func readGroup(_ group: XMLNode, folder: [[UInt8]], depth: Int) {
    let name = group["Name"]?.text.publicBytes() ?? []
    // The name of the top group is the name of the database, which is not part of the path.
    let folder = depth == 0 ? folder : folder + [name]
    // Without a UUID the recycle bin is recognised by the name that KeePass gives it.
    let isBin =
      recycleBin.map { !$0.isEmpty && group["UUID"]?.text.publicBytes() == $0 }
      ?? (depth == 1 && name.elementsEqual("Recycle Bin".utf8))
    if isBin, hasRecycleBin {
      skipAll(in: group, folder: folder)
      return
    }
    if let notes = group["Notes"]?.text, !notes.isEmpty {
      var entry = ImportedEntry(.file(folder.isEmpty ? name : Self.path(folder)))
      entry.attributes[.label] = AttributeValue(text: name)
      entry.note(notes)
      entry.becomeNote()
      entry.finish(into: &draft)
    }
    // All entries share the text, which may be long.
    let path = SecretSlice(SecretBytes(copying: Self.path(folder)))
    for entry in group.all("Entry") { read(entry, folder: path) }
    for inner in group.all("Group") { readGroup(inner, folder: folder, depth: depth + 1) }
  }

  private static func path(_ folder: [[UInt8]]) -> [UInt8] {
    Array(folder.joined(separator: [UInt8(ascii: "/")]))
  }

  private mutating func skipAll(in group: XMLNode, folder: [[UInt8]]) {
    if group["Notes"]?.text.isEmpty == false { draft.skip(.file(Self.path(folder)), .trash, part: .note) }
    for entry in group.all("Entry") {
      number += 1
      draft.skip(.entry(number, title: KeePassStrings(entry).title), .trash)
    }
    for inner in group.all("Group") {
      skipAll(in: inner, folder: folder + [inner["Name"]?.text.publicBytes() ?? []])
    }
  }

  private mutating func read(_ node: XMLNode, folder: SecretSlice) {
    number += 1
    var strings = KeePassStrings(node)
    let unresolved = strings.resolve(&references)
    var entry = ImportedEntry(.entry(number, title: strings.title), showsUnknown: showsUnknown)
    for key in unresolved {
      let reason = "it refers to an entry that was not found by its UUID, or to values that are too large"
      draft.lose(entry.source, .unreadable(reason), part: .column(key))
    }
    entry.set("folder", folder)
    entry.set(.label, strings.takePublic("Title"))
    entry.set(.account, strings.takePublic("UserName"))
    if let password = strings.take("Password") { entry.secret = password }
    if let url = strings.takePublic("URL"), !url.isEmpty { entry.urls.append(url) }
    entry.note(strings.take("Notes"))
    let found = KeePassSeeds(takenFrom: &strings)
    for seed in found.seeds { entry.oneTimePassword(seed) }
    entry.remarks += found.wrong.map { .notASeed($0) }
    draft.losePasskeys(strings.takePasskey(), of: entry.source)
    for string in strings.rest {
      // Further URLs, as named by Keepass2Android and KeePassXC.
      if string.key.hasPrefix("KP2A_URL"), !string.isProtected, !string.isEncrypted {
        entry.urls.append(string.value)
      } else if string.isEncrypted {
        draft.lose(
          entry.source, .unreadable("it is still encrypted in the file"), part: .column(string.key))
      } else if !string.isProtected || !string.value.isEmpty {
        entry.field(string.key, string.value, isSecret: string.isProtected)
      }
    }
    readFacts(node, &entry)
    for binary in node.all("Binary") { keep(binary, &entry) }
    if let history = node["History"], !history.all("Entry").isEmpty {
      entry.seal(.column("history"), KeePassStrings.history(history.all("Entry")))
      tellLosses(history.all("Entry"), of: node, entry.source)
    }
    entry.finish(into: &draft)
  }

  // Losses in older versions: files that the entry no longer has, and strings that are still encrypted.
  private mutating func tellLosses(_ versions: [XMLNode], of node: XMLNode, _ source: ImportSource) {
    let values = node.all("Binary").compactMap { $0["Value"] }
    let contents = Dictionary(grouping: values) { $0.attribute("Ref") }.mapValues {
      SortedSecrets($0.map { (secret: $0.text, owner: ()) })
    }
    func isThere(_ binary: XMLNode) -> Bool {
      guard let value = binary["Value"] else { return false }
      return contents[value.attribute("Ref")]?.contains(value.text) == true
    }
    if versions.contains(where: { !$0.all("Binary").allSatisfy(isThere) }) {
      draft.lose(
        source, .noPlace("files of older versions cannot be stored"), part: .column("history"))
    }
    if versions.contains(where: { KeePassStrings($0).rest.contains(where: \.isEncrypted) }) {
      draft.lose(
        source, .unreadable("a part of it is still encrypted in the file"), part: .column("history"))
    }
  }

  private func readFacts(_ node: XMLNode, _ entry: inout ImportedEntry) {
    entry.set("tags", node["Tags"]?.text)
    entry.set("creationDate", node["Times"]?["CreationTime"]?.text)
    entry.set("revisionDate", node["Times"]?["LastModificationTime"]?.text)
    if node["Times"]?["Expires"]?.text.publicBytes().elementsEqual("True".utf8) == true {
      entry.set("expires", node["Times"]?["ExpiryTime"]?.text)
    }
    for name in ["OverrideURL", "ForegroundColor", "BackgroundColor"] {
      if let text = node[name]?.text, !text.isEmpty { entry.field(name, text) }
    }
    if let sequence = node["AutoType"]?["DefaultSequence"]?.text, !sequence.isEmpty {
      entry.field("AutoType", sequence)
    }
    for association in node["AutoType"]?.all("Association") ?? [] {
      let window = association["Window"]?.text.publicBytes() ?? []
      let sequence = association["KeystrokeSequence"]?.text ?? SecretSlice(SecretBytes())
      entry.field("AutoType \(String(decoding: window, as: UTF8.self))", sequence)
    }
    for item in node["CustomData"]?.all("Item") ?? [] {
      guard let key = item["Key"]?.text, let value = item["Value"]?.text, !value.isEmpty else { continue }
      entry.field(String(decoding: key.publicBytes(), as: UTF8.self), value)
    }
  }

  // The content is in the entry itself or shared under `Meta`, in base64 and possibly compressed.
  private mutating func keep(_ binary: XMLNode, _ entry: inout ImportedEntry) {
    let name = String(decoding: binary["Key"]?.text.publicBytes() ?? [], as: UTF8.self)
    let part = ImportPart.column("file \(name)")
    let reference = binary["Value"]?.attribute("Ref")
    if let reference, let known = contents[reference], let content = known {
      return attach(content, part, &entry)
    }
    guard let value = binary["Value"], let source = value.attribute("Ref").map({ binaries[$0] }) ?? value,
      source.attribute("Protected")?.lowercased() != "true", let content = source.text.decodedBase64()
    else {
      draft.lose(entry.source, .unreadable("its content is missing from the file"), part: part)
      return
    }
    guard source.attribute("Compressed")?.lowercased() == "true" else {
      if let reference { contents[reference] = .some(content) }
      return attach(content, part, &entry)
    }
    let isKnownBroken = reference.map { contents[$0] != nil } ?? false
    guard !isKnownBroken, let unpacked = inflation.gunzip(content, limit: ImportDraft.secretLimit) else {
      if let reference { contents[reference] = .some(nil) }
      draft.lose(
        entry.source,
        .unreadable("it is damaged, or larger than \(ImportDraft.secretLimit) bytes"), part: part)
      return
    }
    let file = SecretSlice(unpacked)
    if let reference { contents[reference] = .some(file) }
    attach(file, part, &entry)
  }

  private mutating func attach(_ content: SecretSlice, _ part: ImportPart, _ entry: inout ImportedEntry) {
    guard room.take(content) else { return draft.lose(entry.source, AttachmentRoom.loss, part: part) }
    entry.seal(part, content)
  }
}
