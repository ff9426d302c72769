internal import KeyringModel
package import Secrets

/// The import of a password store, which converts its items to logins.
///
/// - The first line is the secret. A line after it that begins with `login:`, `username:` or `user:` is the account, one
///   that begins with `url:` the attribute `url`, and one that begins with `otpauth://` the field `otp`. All other lines
///   are stored, byte for byte, in the field `note`, and so is a second line of the same kind.
/// - An item whose first line begins with `otpauth://` has no password, only the seed.
/// - In an item with headers of gopass (`GOPASS-SECRET-1.0`), the header `Password` is the secret, and the other headers
///   and the text are its lines.
/// - `folder/host/name` is an internet password of the server `host` with the account `name`, as browser extensions
///   read such stores. `folder/host` is one with the account of its `login:` line. Any other item is a generic password:
///   the service is the folder (at the top, the name itself) and the account is the name. If it has another account, the
///   service is the whole path.
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
    var item = place(entry, secret: lines.first, login: lines.account?.publicBytes())
    if lines.firstEndsWithCarriageReturn { item.remarks.append(.carriageReturn) }
    let url = lines.url.map { text in unsafe text.withBytes { unsafe ImportedURL($0) } }
    if let url, !url.publicText.isEmpty { item.attributes[.url] = AttributeValue(text: url.publicText) }
    if url?.hidesSomething == true { item.remarks.append(.urlPartlySealed) }
    var login =
      PassLines.isSeed(lines.first)
      ? PlannedLogin(item, fieldAlone: .oneTimePassword) : PlannedLogin(item)
    if !lines.note.isEmpty { login.add(.note, lines.note) }
    for seed in lines.furtherSeeds { login.add(.oneTimePassword, seed) }
    if url?.hidesSomething == true, let text = lines.url { login.add(.column(AttributeName.url.text), text) }
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

  /// Returns the item of an entry with the attributes that follow from its path.
  ///
  /// - Parameters:
  ///   - entry: its location.
  ///   - secret: its first line.
  ///   - login: the user name in its lines; nil if there is none.
  static func place(_ entry: PassEntry, secret: SecretSlice, login: [UInt8]?) -> PlannedItem {
    let name = entry.components.last ?? []
    let folders = entry.components.dropLast()
    let account = login ?? name
    var attributes: Attributes = [.passPath: AttributeValue(text: entry.path)]
    for (index, alias) in entry.aliases.enumerated() {
      attributes[AttributeName("\(AttributeName.passPath.text)-\(index + 2)")] = AttributeValue(text: alias)
    }
    var item = PlannedItem(
      itemClass: .internetPassword, attributes: attributes, secret: secret, source: entry.source,
      part: .secret
    )
    if let host = folders.last.flatMap({ HostName(lookingLike: $0) }) {
      item.set(host, account: account)
      if account != name {
        item.attributes[.label] = AttributeValue(text: name)
        item.alternatives.append([.securityDomain: AttributeValue(text: name)])
      }
      item.addAlternative(joined(folders.dropLast()))
    } else if let host = HostName(lookingLike: name) {
      item.set(host, account: login)
      item.addAlternative(joined(folders))
    } else {
      item.itemClass = .genericPassword
      let service = account != name ? entry.path : folders.isEmpty ? name : joined(folders)
      item.attributes[.service] = AttributeValue(text: service)
      item.attributes[.account] = AttributeValue(text: account)
    }
    return item
  }

  private static func joined(_ folders: ArraySlice<[UInt8]>) -> [UInt8] {
    Array(folders.joined(separator: [UInt8(ascii: "/")]))
  }
}

extension PlannedItem {
  fileprivate mutating func set(_ host: HostName, account: [UInt8]?) {
    attributes[.server] = AttributeValue(text: host.host)
    attributes[.port] = host.port.map { .integer($0) }
    attributes[.account] = account.map { AttributeValue(text: $0) }
  }

  fileprivate mutating func addAlternative(_ domain: [UInt8]) {
    if !domain.isEmpty { alternatives.append([.securityDomain: AttributeValue(text: domain)]) }
  }
}
