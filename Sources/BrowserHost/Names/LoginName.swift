internal import Encoding
internal import KeyringModel

/// The name under which the extension sees a login: `HOST/ACCOUNT.gpg`, with a port if it is not the default one.
///
/// The extension reads the host from the name. It examines the parts from the last to the first, skips a part that
/// contains `@`, and takes the first one that looks like a host.
package struct LoginName: Hashable, Sendable {
  /// The file extension of every name.
  package static let ending = Array(".gpg".utf8)
  /// The largest name in bytes.
  package static let limit = 1024
  /// The number of digits of an id in a name, which may also be a multiple of this number.
  static let digits = 8

  /// `HOST` or `HOST:PORT`, escaped.
  package let folder: [UInt8]
  /// The escaped account, with an `@` in front where the extension would take it for a host; empty without an account.
  package let account: [UInt8]

  private init(folder: [UInt8], account: [UInt8]) { (self.folder, self.account) = (folder, account) }

  /// Creates the name of a login.
  package init(_ login: WebLogin) {
    var folder = Self.escaped(login.hostInURL)
    if let port = login.port { folder += ":\(port)".utf8 }
    self.folder = folder
    account = Self.escaped(Self.marked(login.account, host: login.host))
  }

  /// Reads a name that the extension has sent.
  ///
  /// - Parameter file: The name with its ending.
  /// - Returns: Nil if it is no name of a login: without the ending, too long, with a part that is empty, `.` or `..`, or
  ///   with more than two parts.
  package init?(file: [UInt8]) {
    guard let parts = Self.parts(of: file), parts.count <= 2 else { return nil }
    self.init(parts)
  }

  /// Reads a name for a new login. Its folder may be in other folders, which are ignored.
  ///
  /// - Parameter file: The name with its ending.
  /// - Returns: Nil if a part is empty, `.` or `..`.
  init?(newFile file: [UInt8]) {
    guard let parts = Self.parts(of: file) else { return nil }
    self.init(parts.suffix(2))
  }

  private init(_ parts: some BidirectionalCollection<[UInt8]>) {
    let account = parts.count > 1 ? parts.last : nil
    self.init(folder: parts.first ?? [], account: account ?? [])
  }

  /// Returns the parts of a name, of which there is at least one; nil if it is invalid.
  private static func parts(of file: [UInt8]) -> [[UInt8]]? {
    guard file.count <= limit, file.hasSuffix(ending), !file.contains(0) else { return nil }
    let parts = file.dropLast(ending.count)
      .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Array($0) }
    let isValid = parts.allSatisfy { part in
      !part.isEmpty && !part.elementsEqual(".".utf8) && !part.elementsEqual("..".utf8)
    }
    return isValid ? parts : nil
  }

  /// The name with its ending.
  package var file: [UInt8] {
    folder + (account.isEmpty ? [] : [UInt8(ascii: "/")] + account) + Self.ending
  }

  /// Returns the name of another login with the same host and account.
  ///
  /// - Parameter digits: The first digits of the id of the item.
  func numbered(_ digits: some StringProtocol) -> LoginName {
    // Without an account, the digits become a part of their own, because the extension would not find the host in a
    // part with a space.
    LoginName(folder: folder, account: account + "\(account.isEmpty ? "" : " ")#\(digits)".utf8)
  }

  /// True if the account ends like a name with digits of an id: with `#` and digits after a space, or these alone.
  var isNumbered: Bool {
    guard let mark = account.lastIndex(of: UInt8(ascii: "#")) else { return false }
    let digits = account[(mark + 1)...]
    guard !digits.isEmpty, digits.count.isMultiple(of: Self.digits) else { return false }
    return (mark == 0 || account[mark - 1] == UInt8(ascii: " "))
      && digits.allSatisfy { Hexadecimal.value(ofDigit: $0) != nil }
  }

  /// The host and the port that the name of the folder can mean, as written and split at the last colon.
  var places: [(host: [UInt8], port: Int64?)] {
    guard let folder = PercentEscapes.decode(folder) else { return [] }
    var places: [(host: [UInt8], port: Int64?)] = [(Self.withoutBrackets(HostName.lowerCase(folder)), nil)]
    if let host = HostName(authority: folder), host.port != nil { places.append((host.host, host.port)) }
    return places
  }

  /// The account that the name can mean: without the escapes, and without an `@` that was put in front of it.
  func plainAccount(host: [UInt8]) -> [UInt8]? {
    guard let account = PercentEscapes.decode(account) else { return nil }
    let rest = Array(account.dropFirst())
    return account.first == UInt8(ascii: "@") && Self.marked(rest, host: host) == account ? rest : account
  }

  /// Returns true if two names differ at most in an `@` in front of the account of the first one.
  func isSame(asUnmarked other: LoginName) -> Bool {
    folder == other.folder && account.first == UInt8(ascii: "@") && account.dropFirst() == other.account[...]
  }

  /// Returns an account with an `@` in front if the extension would otherwise take it for a host.
  ///
  /// It does so for a name with a dot or a port. It also does so if the host of the tab is below the account, which is
  /// true for an account that equals the last label of the login's own host. The port of the login would then be ignored, or
  /// the login would not be found.
  private static func marked(_ account: [UInt8], host: [UInt8]) -> [UInt8] {
    let at = UInt8(ascii: "@")
    if account.first == at { return [at] + account }
    guard !account.contains(at) else { return account }
    let labels = host.split(separator: UInt8(ascii: "."))
    let isLabel = labels.last.map { $0.elementsEqual(account) } == true
    return isLabel || account.contains(UInt8(ascii: ".")) || account.contains(UInt8(ascii: ":"))
      ? [at] + account : account
  }

  private static func withoutBrackets(_ host: [UInt8]) -> [UInt8] {
    host.first == 0x5B && host.last == 0x5D ? Array(host.dropFirst().dropLast()) : host
  }

  /// Escapes the bytes that have a meaning in paths, control characters, and every byte of text that is not UTF-8 and
  /// not ASCII. A dot at the beginning is escaped, because the browser would treat the part as hidden.
  private static func escaped(_ text: [UInt8]) -> [UInt8] {
    let isText = String(validating: text, as: UTF8.self) != nil
    var escaped: [UInt8] = []
    for (index, byte) in text.enumerated() {
      let isSyntax =
        byte < 0x20 || byte == 0x7F || "/\\%".utf8.contains(byte) || (index == 0 && byte == UInt8(ascii: "."))
      if isSyntax || (!isText && byte >= 0x80) {
        escaped += "%\(Hexadecimal.text(byte, digits: 2, uppercase: true))".utf8
      } else {
        escaped.append(byte)
      }
    }
    return escaped
  }
}

extension [UInt8] {
  fileprivate func hasSuffix(_ end: [UInt8]) -> Bool { suffix(end.count).elementsEqual(end) }
}
