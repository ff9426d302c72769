internal import KeyringModel

/// What a URL of a password manager says about where a password belongs, and which part of it is public.
///
/// Attributes are readable by everybody who has the store, and a URL can hold a secret: a password before
/// the `@`, a token after `?` or `#`, parameters after `;`. Those parts are left out of ``publicText``;
/// `hidesSomething` says that the original has to be sealed for nothing to be lost. Where a password may stand that
/// is not written as RFC 3986 has it, nothing but the scheme is shown. A path is public, whatever it holds.
struct ImportedURL: Equatable {
  /// The scheme in lower-case letters, `https`; nil when there is none.
  var scheme: [UInt8]?
  /// Host and port; nil when the text names no host.
  var host: HostName?
  /// The path, without query and fragment; empty when there is none.
  var path: [UInt8] = []
  /// The text as it may be shown to everybody.
  var publicText: [UInt8]
  /// Whether `publicText` is not the whole text.
  var hidesSomething: Bool

  /// Takes a text apart; every text can be.
  ///
  /// - Parameter text: Usually a URL. A host, `host:port` and `host/path` without a scheme are understood;
  ///   anything else has no host.
  init(_ text: UnsafeRawBufferPointer) {
    let shown = unsafe text.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? text.count
    // Only bytes before the query are copied: these copies are not wiped.
    var bytes = unsafe Array(text[..<shown])
    hidesSomething = shown < text.count

    let afterScheme = ImportedURL.endOfScheme(bytes)
    let authorityStart = afterScheme.map { $0 + 3 } ?? 0
    var authorityEnd = bytes[authorityStart...].firstIndex(of: UInt8(ascii: "/")) ?? bytes.count
    if unsafe ImportedURL.mayHoldPassword(text, bytes, authorityStart..<authorityEnd) {
      publicText = afterScheme.map { Array(bytes[..<$0]) + "://".utf8 } ?? []
      hidesSomething = true
      return
    }
    var mayBeHost = true
    // RFC 3986, 3.2.1: the last `@` ends the user information.
    if let at = bytes[authorityStart..<authorityEnd].lastIndex(of: UInt8(ascii: "@")) {
      let user = authorityStart..<at + 1
      // The digest in front of an Android package is as public as the package.
      let isAndroid = afterScheme != nil && bytes.starts(with: "android:".utf8)
      if bytes[user].contains(UInt8(ascii: ":")) || (afterScheme != nil && !isAndroid) {
        // A name and a password, or what may be a token in place of a name. Nothing of it is shown.
        bytes.removeSubrange(user)
        authorityEnd -= user.count
        hidesSomething = true
        // Without `//` it may as well be `mailto:alice@example.org`, which is no host.
        mayBeHost = afterScheme != nil
      }
    }
    // RFC 3986, 3.3: what a path has for parameters; `;password=` in the addresses of databases.
    if let parameters = bytes[authorityStart...].firstIndex(of: UInt8(ascii: ";")) {
      bytes.removeSubrange(parameters...)
      authorityEnd = min(authorityEnd, parameters)
      hidesSomething = true
    }
    publicText = bytes
    guard mayBeHost else { return }
    let authority = bytes[authorityStart..<authorityEnd]
    let hostStart = authority.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? authorityStart
    if let afterScheme {
      host = HostName(authority: authority[hostStart...])
      // What may stand in a scheme besides capitals has this bit anyway.
      scheme = bytes[..<afterScheme].map { $0 | 0x20 }
    } else {
      host = HostName(lookingLike: authority)
    }
    if host != nil {
      path = Array(bytes[authorityEnd...])
    } else {
      scheme = nil
    }
  }

  /// Whether there may be a password that does not stand where one belongs: `https://u:a/b@host` and
  /// `jdbc:postgresql://u:p@host` have an `@` after a colon that is not the scheme's.
  ///
  /// - Parameters:
  ///   - text: The whole text.
  ///   - shown: What comes before its query and its fragment.
  ///   - authority: Where a password belongs, when there is one.
  private static func mayHoldPassword(
    _ text: UnsafeRawBufferPointer, _ shown: [UInt8], _ authority: Range<Int>
  ) -> Bool {
    guard let colon = shown[authority.lowerBound...].firstIndex(of: UInt8(ascii: ":")),
      let last = unsafe text.lastIndex(of: UInt8(ascii: "@")), last > colon
    else { return false }
    // With the only `@` in its place, the password is known to end there.
    if authority.contains(last) { return false }
    // `https://host.example:8443/?mail=a@b` has a port and no password: a user is not named like a host.
    return HostName(lookingLike: shown[authority]) == nil
  }

  // Where `://` begins after a scheme (RFC 3986, 3.1).
  private static func endOfScheme(_ bytes: [UInt8]) -> Int? {
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return nil }
    guard bytes[colon...].starts(with: "://".utf8) else { return nil }
    let isScheme = bytes[..<colon].allSatisfy { byte in
      let letter = byte | 0x20
      return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.".utf8.contains(byte)
    }
    return isScheme ? colon : nil
  }
}
