internal import Encoding
internal import KeyringModel
package import Secrets

/// A store in the format of `pass`: a file for each entry, whose first line is the password.
///
/// - The path is the attribute `pass` if an item has it, else `server/account` or `service/account`. A part of a path
///   that is not a valid file name, or that would lead out of the folder, is changed.
/// - After the first line come `login:` if the path does not contain the account, `url:`, a line `otpauth://...` for each
///   seed, and the note. Any other field is a separate file: `github.com/alice.PIN`.
package struct PassExport {
  /// A file of the tree, before it is encrypted.
  package struct File: Sendable {
    /// The names of the folders and of the file, without `.gpg`.
    package let components: [[UInt8]]
    /// The content in plain text.
    package let content: SecretSlice
  }

  /// The files.
  package private(set) var files: [File] = []
  /// The report of losses.
  package private(set) var report = ExportReport(entries: [])
  // The names on disk. The names of files include the suffix. A file and a folder cannot have the same name.
  private var taken: Set<[[UInt8]]> = []
  private var folders: Set<[[UInt8]]> = []
  // The next number to try for a file whose name is taken, because many entries can have one path.
  private var nextNumbers: [[[UInt8]]: Int] = [:]

  private static let slash = UInt8(ascii: "/")
  // The limit of 255 bytes, less `.gpg` and a number.
  private static let nameLimit = 240

  /// Creates the files for entries.
  package init(_ entries: [ExportEntry]) {
    for entry in entries { add(entry) }
  }

  private mutating func add(_ entry: ExportEntry) {
    var entry = entry
    for item in entry.items {
      let reason: String
      switch item.record.itemClass {
      case .certificate: reason = "this format cannot contain certificates"
      case .key: reason = "this format cannot contain keys"
      default: continue
      }
      report.entries.append(ExportReport.Entry(item: item.record.primaryKey, losses: [.item(reason)]))
      // A certificate and a key have no fields.
      entry.main = nil
    }
    guard let head = entry.head else { return }
    let path = free(Self.path(of: head))
    let address = PassAddress(of: entry)
    var imported = write(path, Self.content(of: entry, at: path, address))
    for (name, item) in entry.fields where item.record.place != address.field?.record.place {
      var parts = path
      let last = parts.removeLast()
      imported += write(free(parts + [Self.component(last + ".\(name)".utf8)]), item.secret)
    }
    let losses = PreparedExport.losses([entry], [imported])[0]
    for (item, losses) in zip(entry.items, losses) {
      report.entries.append(ExportReport.Entry(item: item.record.primaryKey, losses: losses))
    }
  }

  /// Adds a file, and returns the items that an import reads from it.
  private mutating func write(_ path: [[UInt8]], _ content: SecretSlice) -> [PlannedItem] {
    files.append(File(components: path, content: content))
    let copy = content.copy()
    return PassImport.plan(PassEntry(components: path), plaintext: copy).items
  }

  private static func content(
    of entry: ExportEntry, at path: [[UInt8]], _ address: PassAddress
  ) -> SecretSlice {
    var content = SecretBytes()
    var seeds = entry.seeds
    if let main = entry.main {
      content.append(main.secret)
    } else if !seeds.isEmpty {
      content.append(uri(seeds.removeFirst()))
    }
    var lines: [SecretSlice] = []
    if let account = account(of: entry, at: path), let line = PassLines.line("login", account) {
      lines.append(line)
    }
    if let line = address.line { lines.append(line) }
    lines += seeds.map(uri)
    if let note = entry.note { lines.append(note.secret) }
    for line in lines {
      content.append("\n")
      content.append(line)
    }
    // Without a note, the last line ends with a line feed, as with `pass insert`. A note is not changed.
    let isLine = unsafe content.withBytes { bytes in
      unsafe SecretText.isUTF8(bytes) && (lines.isEmpty ? !bytes.contains(0x0A) : entry.note == nil)
        && bytes.last != 0x0D
    }
    if isLine { content.append("\n") }
    return SecretSlice(content)
  }

  /// Returns the account if the file needs a `login:` line: the path has another one, or the note has a line that an
  /// import would take for the account.
  private static func account(of entry: ExportEntry, at path: [[UInt8]]) -> SecretSlice? {
    guard let account = entry.head?.text(.account).map({ SecretSlice($0) }), !account.isEmpty else {
      return nil
    }
    let implied = PassImport.place(PassEntry(components: path), secret: .nothing, login: nil)
    let isImplied = implied.attributes[.account]?.contentBytes?.elementsEqual(account.publicBytes()) == true
    guard isImplied, let note = entry.note else { return isImplied ? nil : account }
    // The first line of the text is not a line of the note.
    var text = SecretBytes()
    text.append("\n")
    text.append(note.secret)
    return PassLines(SecretSlice(text)).account == nil ? nil : account
  }

  // pass-otp reads only URIs.
  private static func uri(_ seed: ExportedItem) -> SecretSlice {
    if PassLines.isSeed(seed.secret) { return seed.secret }
    let isBase32 = unsafe seed.secret.withBytes { bytes in
      unsafe !bytes.isEmpty
        && bytes.allSatisfy {
          (0x32...0x37).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
        }
    }
    guard isBase32 else { return seed.secret }
    var uri = SecretBytes()
    uri.append("otpauth://totp/?secret=")
    uri.append(seed.secret)
    return SecretSlice(uri)
  }
}

/// The URL of an entry for its `url:` line: the field `url` with the whole URL, else the attribute.
private struct PassAddress {
  /// The line; nil if the entry has no URL that a line can contain.
  let line: SecretSlice?
  /// The field that the line contains, if it does.
  let field: ExportedItem?

  init(of entry: ExportEntry) {
    let name = AttributeName.url.text
    let sealed = entry.fields.first { $0.name == name && PassLines.line(name, $0.item.secret) != nil }?.item
    field = sealed
    line = (sealed?.secret ?? entry.head?.text(.url).map { SecretSlice($0) }).flatMap {
      PassLines.line(name, $0)
    }
  }
}

// The names of files.
extension PassExport {
  private static func path(of item: ExportedItem) -> [[UInt8]] {
    if let path = item.record.attributes[.passPath]?.contentBytes {
      let parts = path.split(separator: slash, omittingEmptySubsequences: false).map(Array.init)
      // The path from an import of a pass store.
      if parts.allSatisfy({ component($0) == $0 }) { return parts }
    }
    let account = item.record.attributes[.account]?.contentBytes ?? []
    var folders: [[UInt8]]
    if let server = item.record.attributes[.server]?.contentBytes {
      var host = server
      if case .integer(let port)? = item.record.attributes[.port] {
        let isAddress = server.contains(UInt8(ascii: ":"))
        host = isAddress ? Array("[".utf8) + server + "]".utf8 : server
        host += ":\(port)".utf8
      }
      folders = [host]
    } else {
      let service = item.record.attributes[.service]?.contentBytes ?? []
      folders = service.split(separator: slash).map(Array.init)
    }
    if !account.isEmpty { folders.append(account) }
    let parts = folders.isEmpty ? [item.record.attributes[.label]?.contentBytes ?? []] : folders
    return parts.map(component)
  }

  // Returns a valid file name: no slash, no NUL, not a name that pass reserves, not `.` or `..`.
  private static func component(_ name: [UInt8]) -> [UInt8] {
    var name = name.prefix(nameLimit).map { $0 == slash || $0 == 0 ? UInt8(ascii: "_") : $0 }
    let isTaken =
      PassScan.isHousekeeping(name) || name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8)
    if name.isEmpty || isTaken { name.insert(UInt8(ascii: "_"), at: 0) }
    return name
  }

  private mutating func free(_ path: [[UInt8]]) -> [[UInt8]] {
    var folder: [[UInt8]] = []
    for component in path.dropLast() {
      folder.append(component)
      // A folder can have the name of a file only once, because a number follows the suffix.
      if taken.contains(folder) { folder[folder.count - 1] = component + "-2".utf8 }
      folders.insert(folder)
    }
    let wanted = folder + [path[path.count - 1]]
    var found = wanted
    var number = nextNumbers[wanted] ?? 1
    repeat {
      found[found.count - 1] = wanted[wanted.count - 1] + (number == 1 ? "" : "-\(number)").utf8
      number += 1
    } while !isFree(found)
    nextNumbers[wanted] = number
    taken.insert(Self.onDisk(found))
    return found
  }

  private func isFree(_ path: [[UInt8]]) -> Bool {
    let file = Self.onDisk(path)
    return !taken.contains(file) && !folders.contains(file)
  }

  private static func onDisk(_ path: [[UInt8]]) -> [[UInt8]] {
    path.dropLast() + [path[path.count - 1] + PassScan.suffix]
  }
}
