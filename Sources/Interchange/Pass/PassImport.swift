internal import KeyringModel
package import Secrets

/// The import of a password store, which converts its items to items of a keyring.
///
/// - The first line is the secret. Everything after its line end is stored, byte for byte, in the field `note`; no line
///   is read as `key: value`.
/// - A line that begins with `otpauth://totp/` also becomes the field `otp`. The note keeps the line too. An item whose
///   first line is such a line has no password, only the seed.
/// - `folder/host/name` is an internet password of the server `host` with the account `name`, as browser extensions
///   read such stores. Any other item is a generic password: the service is the folder (at the top, the name itself),
///   the account is the name.
/// - The attribute `pass` contains the path in the store, `pass-2` and so on the paths of links to it.
package enum PassImport {
  /// Plans one item.
  ///
  /// - Parameters:
  ///   - entry: its location.
  ///   - plaintext: its decrypted content.
  /// - Returns: the items for it.
  package static func plan(_ entry: PassEntry, plaintext: borrowing SecretBytes) -> ImportDraft {
    let content = SecretSlice(plaintext.copy())
    let lines = PassLines(content)
    var draft = ImportDraft()
    var item = place(entry, secret: lines.first)
    if lines.firstEndsWithCarriageReturn { item.remarks.append(.carriageReturn) }
    var login =
      PassLines.isSeed(lines.first)
      ? PlannedLogin(item, fieldAlone: .oneTimePassword) : PlannedLogin(item)
    if !lines.rest.isEmpty { login.add(.note, lines.rest) }
    for seed in lines.furtherSeeds { login.add(.oneTimePassword, seed) }
    draft.add(login)
    return draft
  }

  /// Records that an item could not be decrypted.
  ///
  /// - Parameters:
  ///   - entry: its location.
  ///   - reason: the reason, for the report.
  /// - Returns: the loss, for the report.
  package static func unreadable(_ entry: PassEntry, reason: String) -> ImportDraft {
    var draft = ImportDraft()
    draft.lose(entry.source, .unreadable(reason))
    return draft
  }

  private static func place(_ entry: PassEntry, secret: SecretSlice) -> PlannedItem {
    let name = entry.components.last ?? []
    let folders = entry.components.dropLast()
    var attributes: Attributes = [
      .account: AttributeValue(text: name), .passPath: AttributeValue(text: entry.path),
    ]
    for (index, alias) in entry.aliases.enumerated() {
      attributes[AttributeName("\(AttributeName.passPath.text)-\(index + 2)")] = AttributeValue(text: alias)
    }
    var item = PlannedItem(
      itemClass: .genericPassword, attributes: attributes, secret: secret, source: entry.source, part: .secret
    )
    if let folder = folders.last, let host = HostName(lookingLike: folder) {
      item.itemClass = .internetPassword
      item.attributes[.server] = AttributeValue(text: host.host)
      item.attributes[.port] = host.port.map { .integer($0) }
      let above = joined(folders.dropLast())
      if !above.isEmpty { item.alternatives = [[.securityDomain: AttributeValue(text: above)]] }
    } else {
      item.attributes[.service] = AttributeValue(text: folders.isEmpty ? name : joined(folders))
    }
    return item
  }

  private static func joined(_ folders: ArraySlice<[UInt8]>) -> [UInt8] {
    Array(folders.joined(separator: [UInt8(ascii: "/")]))
  }
}

/// The lines of an item of a password store, as parts of the item.
struct PassLines {
  /// The first line without its line end.
  let first: SecretSlice
  /// True if that line end was CR LF.
  let firstEndsWithCarriageReturn: Bool
  /// Everything after that line end.
  let rest: SecretSlice
  /// The lines of the rest that contain a one-time-password seed.
  let furtherSeeds: [SecretSlice]

  init(_ content: SecretSlice) {
    let lines = unsafe content.withBytes { unsafe PassLines.lines(of: $0) }
    let end = lines.first ?? PassLines.Line(content: 0..<0, next: 0)
    first = content.part(end.content)
    firstEndsWithCarriageReturn = end.next - end.content.upperBound == 2
    rest = content.part(end.next..<content.count)
    furtherSeeds = lines.dropFirst().map { content.part($0.content) }.filter(PassLines.isSeed)
  }

  /// Returns true if a line is the URI of a time-based one-time password.
  static func isSeed(_ line: SecretSlice) -> Bool {
    unsafe line.withBytes { unsafe $0.starts(with: "otpauth://totp/".utf8) }
  }

  private struct Line {
    var content: Range<Int>
    var next: Int
  }

  // Lines end at LF or CR LF. The last one may have no line end.
  private static func lines(of bytes: UnsafeRawBufferPointer) -> [Line] {
    var lines: [Line] = []
    var start = 0
    while start < bytes.count {
      let end = unsafe bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      let hasReturn = unsafe end < bytes.count && end > start && bytes[end - 1] == UInt8(ascii: "\r")
      lines.append(Line(content: start..<(hasReturn ? end - 1 : end), next: min(end + 1, bytes.count)))
      start = end + 1
    }
    return lines
  }
}
