internal import Encoding
internal import KeyringModel
package import Secrets

/// The adoption of an encrypted file that another program has put into the folder `items` of a store.
///
/// The path below `items` is read as that of an item in a password store (``PassImport``). In a folder of Keytree's own,
/// `internet-password` or `generic-password`, the folder determines the class, and the next one is the server or the
/// service. A file at the path of a field, such as `internet-password/github.com/alice/otp`, becomes this field.
package enum AdoptedFile {
  /// Plans the login for a file.
  ///
  /// - Parameters:
  ///   - path: The path below `items`, without `.gpg`.
  ///   - plaintext: The decrypted content.
  /// - Returns: One login, or the reasons why it cannot be stored.
  package static func plan(_ path: String, plaintext: borrowing SecretBytes) -> ImportDraft {
    let components = path.split(separator: "/").map { Array($0.utf8) }
    if let item = ItemPath(validating: path), let field = item.field {
      return plan(field: field, of: components, plaintext)
    }
    guard let itemClass = Self.itemClass(components) else {
      return PassImport.plan(PassEntry(components: components), plaintext: plaintext)
    }
    let inner = PassEntry(components: Array(components.dropFirst()))
    var draft = PassImport.plan(inner, plaintext: plaintext)
    for index in draft.logins.indices {
      let attributes = place(inner.components, itemClass, draft.logins[index].head.attributes)
      draft.logins[index].move(to: itemClass, attributes)
    }
    return draft
  }

  /// Returns the part of a decrypted content that replaces the secret of an item: everything, without the line end if
  /// there is only one line.
  ///
  /// - Parameter plaintext: The decrypted content.
  package static func secret(_ plaintext: borrowing SecretBytes) -> SecretSlice {
    let content = SecretSlice(plaintext.copy())
    return hasOneLine(plaintext) ? PassLines(content).first : content
  }

  /// The content of the changed file of a login.
  package struct ChangedLogin: Sendable {
    /// The first line.
    package let secret: SecretSlice
    /// The fields in the other lines.
    package let fields: [(name: String, secret: SecretSlice)]
  }

  /// Reads the changed file of a login whose secret is one line, or a file with headers of gopass.
  ///
  /// The first line or the header `Password` is the secret, an `otpauth://` line the field `otp`, and the other lines the field `note`. Lines that
  /// repeat the account or the address of the login are left out.
  ///
  /// - Parameters:
  ///   - plaintext: The decrypted content.
  ///   - account: The account of the login; nil for none.
  ///   - url: The address of the login; nil for none.
  package static func changedLogin(
    _ plaintext: borrowing SecretBytes, account: [UInt8]?, url: [UInt8]?
  ) -> ChangedLogin {
    let lines = PassLines(SecretSlice(plaintext.copy()))
    var note = SecretBytes()
    let named = [("login", lines.account, account), ("url", lines.url, url)]
    for (name, value, known) in named {
      guard let value, value.publicBytes() != known, let line = PassLines.line(name, value) else { continue }
      note.append(line)
      note.append("\n")
    }
    for seed in lines.furtherSeeds.dropFirst() {
      note.append(seed)
      note.append("\n")
    }
    note.append(lines.note)
    var fields = lines.furtherSeeds.prefix(1).map { (name: FieldName.oneTimePassword, secret: $0) }
    if note.count > 0 { fields.append((FieldName.note, SecretSlice(note))) }
    return ChangedLogin(secret: lines.first, fields: fields)
  }

  /// Returns true if a content has headers of gopass.
  ///
  /// - Parameter plaintext: The decrypted content.
  package static func hasHeaders(_ plaintext: borrowing SecretBytes) -> Bool {
    PassLines(SecretSlice(plaintext.copy())).hasHeaders
  }

  /// Returns true if a content has one line, with or without a line end, or no header of gopass but the password.
  package static func hasOneLine(_ plaintext: borrowing SecretBytes) -> Bool {
    let content = SecretSlice(plaintext.copy())
    let lines = PassLines(content)
    if lines.hasHeaders { return lines.hasOnlySecret }
    return content.count - lines.first.count <= (lines.firstEndsWithCarriageReturn ? 2 : 1)
  }

  /// Returns the class that the first folder names; nil for any other folder.
  private static func itemClass(_ components: [[UInt8]]) -> ItemClass? {
    guard components.count > 1 else { return nil }
    let known = ItemClass(rawValue: String(decoding: components[0], as: UTF8.self))
    return known == .internetPassword || known == .genericPassword ? known : nil
  }

  private static func plan(
    field: String, of components: [[UInt8]], _ plaintext: borrowing SecretBytes
  ) -> ImportDraft {
    let secret = secret(plaintext)
    let login = Array(components.dropLast())
    let itemClass = itemClass(login) ?? .genericPassword
    var attributes = place(Array(login.dropFirst()), itemClass, Attributes())
    attributes[.field] = .string(field)
    let source = ImportSource.file(Array(components.joined(separator: [UInt8(ascii: "/")])))
    var draft = ImportDraft()
    draft.add(
      PlannedLogin(
        PlannedItem(
          itemClass: itemClass, attributes: attributes, secret: secret, source: source, part: .secret)))
    return draft
  }

  /// Returns attributes with the container and the account that the path of a file names.
  ///
  /// - Parameters:
  ///   - components: The path without the class; not empty.
  ///   - itemClass: The class.
  ///   - attributes: The attributes of the same file in a password store.
  private static func place(
    _ components: [[UInt8]], _ itemClass: ItemClass, _ attributes: Attributes
  ) -> Attributes {
    var result = attributes
    for name in [AttributeName.server, .service, .port, .passPath] { result[name] = nil }
    let account = components.last ?? []
    let folders = components.dropLast()
    let container = Array(folders.joined(separator: [UInt8(ascii: "/")]))
    result[.account] = AttributeValue(text: account)
    if itemClass == .genericPassword {
      result[.service] = AttributeValue(text: folders.isEmpty ? account : container)
      return result
    }
    let name = folders.isEmpty ? account : container
    let host = HostName(lookingLike: name)
    result[.server] = AttributeValue(text: host?.host ?? name)
    result[.port] = host?.port.map { .integer($0) }
    if folders.isEmpty { result[.account] = nil }
    return result
  }
}
