internal import KeyringModel

/// The public parts of a URL from a password manager, and the host that its password is for.
///
/// Everyone who has the store can read attributes, and a URL can contain a secret: a password before the `@`, a token
/// after `?` or `#`, parameters after `;`. Those parts are left out of ``publicText``. `hidesSomething` is true if the
/// original must be encrypted so that nothing is lost. If the URL may contain a password in a place that RFC 3986 does
/// not provide, only the scheme is shown. A path is always public.
struct ImportedURL: Equatable {
  /// The scheme in lower case, `https`; nil if there is none.
  var scheme: [UInt8]?
  /// The host and the port; nil if the text contains no host.
  var host: HostName?
  /// The path, without query and fragment; empty if there is none.
  var path: [UInt8] = []
  /// The part of the text that may be public.
  var publicText: [UInt8]
  /// True if `publicText` is not the whole text.
  var hidesSomething: Bool

  /// Parses a text. Every text is accepted.
  ///
  /// - Parameter text: usually a URL. A host, `host:port` and `host/path` without a scheme are understood; any other
  ///   text has no host.
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
      // The digest in front of the name of an Android package is as public as the name.
      let isAndroid = afterScheme != nil && bytes.starts(with: "android:".utf8)
      if bytes[user].contains(UInt8(ascii: ":")) || (afterScheme != nil && !isAndroid) {
        // A name and a password, or possibly a token instead of a name. All of it is hidden.
        bytes.removeSubrange(user)
        authorityEnd -= user.count
        hidesSomething = true
        // Without `//` it may be `mailto:alice@example.org`, which is not a host.
        mayBeHost = afterScheme != nil
      }
    }
    // RFC 3986, 3.3: the parameters of a path; `;password=` in the URLs of databases.
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
      // The other characters of a scheme already have this bit.
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

  /// Returns true if there may be a password in an unusual place: `https://u:a/b@host` and `jdbc:postgresql://u:p@host`
  /// have an `@` after a colon that is not the one of the scheme.
  ///
  /// - Parameters:
  ///   - text: the whole text.
  ///   - shown: the text before its query and its fragment.
  ///   - authority: the range where a password is expected.
  private static func mayHoldPassword(
    _ text: UnsafeRawBufferPointer, _ shown: [UInt8], _ authority: Range<Int>
  ) -> Bool {
    guard let colon = shown[authority.lowerBound...].firstIndex(of: UInt8(ascii: ":")),
      let last = unsafe text.lastIndex(of: UInt8(ascii: "@")), last > colon
    else { return false }
    // If the only `@` is in the expected place, the password ends there.
    if authority.contains(last) { return false }
    // `https://host.example:8443/?mail=a@b` has a port and no password, because a user name does not look like a host.
    return HostName(lookingLike: shown[authority]) == nil
  }

  // Returns the position of `://` after a scheme (RFC 3986, 3.1).
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
