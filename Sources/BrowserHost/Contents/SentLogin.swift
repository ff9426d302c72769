internal import Encoding
internal import OneTimePasswords
package import Secrets

/// The parts of a login that the extension receives.
package struct SentLogin {
  /// The largest secret in bytes, and the largest content that is saved.
  package static let limit = 64 << 10

  /// The secret.
  package let secret: SecretSlice
  /// The account; empty if there is none.
  package let account: [UInt8]
  /// The URL; nil if there is none.
  package let url: [UInt8]?
  /// The seed of one-time passwords as stored; nil if there is none.
  package let seed: SecretSlice?

  /// Creates the parts.
  package init(secret: SecretSlice, account: [UInt8], url: [UInt8]?, seed: SecretSlice? = nil) {
    (self.secret, self.account, self.url, self.seed) = (secret, account, url, seed)
  }

  /// The reasons why the extension could not read a secret as it is.
  package enum Obstacle: Error, Equatable {
    /// It is larger than the limit.
    case tooLarge
    /// It has no visible character.
    case blank
    /// It has several lines.
    case severalLines
    /// It is not UTF-8.
    case notText
    /// It looks like one of the extension's keys, and the extension would remove white space from its ends.
    case ambiguous
  }

  /// Returns the content as lines: the secret, `login:`, `url:` and the seed.
  ///
  /// `login:` is always there, because the extension would otherwise use the last part of the name. An account or a URL
  /// that a line cannot represent is left out.
  ///
  /// - Throws: The reason why the extension would read another secret.
  package func contents() throws(Obstacle) -> SecretBytes {
    var contents = SecretBytes(capacity: secret.count + 1024)
    if try needsKey() { contents.append("password: ") }
    contents.append(secret)
    contents.append("\nlogin: ")
    if Self.isLine(account) { for byte in account { contents.append(byte) } }
    if let url, !url.isEmpty, Self.isLine(url) {
      contents.append("\nurl: ")
      for byte in url { contents.append(byte) }
    }
    if let line = seed.flatMap(Self.line(ofSeed:)) {
      contents.append("\n")
      contents.append(line)
    }
    return contents
  }

  /// Checks the secret, and returns true if it needs a key in front of it, because the extension would take the line for
  /// something else.
  private func needsKey() throws(Obstacle) -> Bool {
    guard secret.count <= Self.limit else { throw .tooLarge }
    return try unsafe secret.withBytes { bytes throws(Obstacle) -> Bool in
      let all = 0..<bytes.count
      let trimmed = unsafe ExtensionText.trimmed(bytes, all)
      if trimmed.isEmpty { throw .blank }
      if unsafe bytes.contains(where: { $0 == 0x0A || $0 == 0x0D }) { throw .severalLines }
      guard unsafe SecretText.isUTF8(bytes) else { throw .notText }
      guard unsafe ContentLine(bytes, all) != nil else { return false }
      guard trimmed == all else { throw .ambiguous }
      return true
    }
  }

  /// Returns the line for a seed; nil if the extension cannot use it: it knows only codes of digits that depend on the
  /// time.
  private static func line(ofSeed text: SecretSlice) -> SecretSlice? {
    let bytes = text.copy()
    // Without a valid seed, the login can still be filled in.
    guard let seed = try? Seed(bytes), case .time = seed.factor, !seed.isSteam else { return nil }
    let range = unsafe bytes.withBytes { unsafe ExtensionText.trimmed($0, 0..<$0.count) }
    let part = text.part(range)
    guard unsafe part.withBytes({ unsafe isLine($0) }) else { return nil }
    if seed.isURI { return part }
    var line = SecretBytes(capacity: part.count + 8)
    line.append("otp: ")
    line.append(part)
    return SecretSlice(line)
  }

  /// Returns true if a line can contain a text.
  static func isLine(_ text: [UInt8]) -> Bool { unsafe text.withUnsafeBytes { unsafe isLine($0) } }

  private static func isLine(_ text: UnsafeRawBufferPointer) -> Bool {
    guard unsafe SecretText.isUTF8(text), unsafe !text.contains(where: { $0 == 0x0A || $0 == 0x0D }) else {
      return false
    }
    return unsafe !ExtensionText.hasSeparator(text, 0..<text.count)
  }

  /// Returns a text as the extension reads it from a line: without white space at its ends, and empty if a line cannot
  /// contain it.
  static func asRead(_ text: [UInt8]) -> [UInt8] {
    guard isLine(text) else { return [] }
    return unsafe text.withUnsafeBytes { bytes in
      unsafe Array(bytes[ExtensionText.trimmed(bytes, 0..<bytes.count)])
    }
  }
}
