internal import Encoding
internal import Secrets

/// The one-time-password seeds among the strings of a KeePass entry, in the forms of several programs:
///
/// - `otp`: a seed as elsewhere (KeePassXC), or `key=BASE32&step=30&size=6` with further settings (KeeOtp).
/// - `TOTP Seed` with `TOTP Settings`, `30;6` (KeeTrayTOTP). `S` instead of the number of digits means Steam codes.
/// - `TimeOtp-Secret` in UTF-8, `TimeOtp-Secret-Hex`, `-Base32` or `-Base64` with `TimeOtp-Period`, `TimeOtp-Length` and
///   `TimeOtp-Algorithm`, and `HmacOtp-Secret` in the same encodings with `HmacOtp-Counter` (KeePass itself:
///   keepass.info/help/base/placeholders.html).
///
/// A seed with other values than the usual 30 seconds, 6 digits and SHA-1 becomes an `otpauth` URI. A string that cannot
/// be converted stays a string.
struct KeePassSeeds {
  /// The seeds.
  private(set) var seeds: [SecretSlice] = []
  /// The names of the strings that should be seeds and are not.
  private(set) var wrong: [String] = []

  /// Removes the seeds from the strings of an entry.
  init(takenFrom strings: inout KeePassStrings) {
    takeOTP(&strings)
    takeTray(&strings)
    takeOwn("TimeOtp", ["Period", "Length", "Algorithm"], &strings) { setting throws(NotASeed) in
      var settings = Settings()
      try settings.set(.period, setting("Period"))
      try settings.set(.digits, setting("Length"))
      try settings.set(
        .algorithm, setting("Algorithm")?.uppercased().replacing(bytesOf: "HMAC-SHA-", with: "SHA"))
      return settings
    }
    takeOwn("HmacOtp", ["Counter"], &strings) { setting throws(NotASeed) in
      var settings = Settings(isCounted: true)
      try settings.set(.counter, setting("Counter"))
      return settings
    }
  }

  private mutating func takeOTP(_ strings: inout KeePassStrings) {
    guard let otp = strings.peek("otp"), !otp.isEmpty else { return }
    let isURI = unsafe otp.withBytes { text in
      ["otpauth:", "steam:"].contains {
        unsafe text.prefix($0.utf8.count).elementsEqual($0.utf8)
      }
    }
    do throws(NotASeed) {
      let isSeed = isURI || Key.base32.bytes(otp) != nil
      if isSeed { seeds.append(otp) } else { seeds.append(try KeeOtp.seed(otp)) }
      _ = strings.take("otp")
    } catch {
      wrong.append("otp")
    }
  }

  private mutating func takeTray(_ strings: inout KeePassStrings) {
    guard let seed = strings.peek("TOTP Seed"), !seed.isEmpty else { return }
    let words =
      Self.text(strings.peek("TOTP Settings"))?.split(separator: ";").map(String.init) ?? []
    var settings = Settings()
    do throws(NotASeed) {
      try settings.set(.period, words.first)
      if let length = words.dropFirst().first {
        if length == "S" { settings.isSteam = true } else { try settings.set(.digits, length) }
      }
      seeds.append(try settings.seed(seed, in: .base32))
      _ = (strings.take("TOTP Seed"), strings.take("TOTP Settings"))
    } catch {
      wrong.append("TOTP Seed")
    }
  }

  /// Takes a seed of KeePass itself.
  ///
  /// - Parameters:
  ///   - name: the beginning of the names of its strings.
  ///   - names: the ends of the names of its settings.
  ///   - strings: the strings of the entry.
  ///   - settings: reads the settings; it is given a function that returns one of them.
  private mutating func takeOwn(
    _ name: String, _ names: [String], _ strings: inout KeePassStrings,
    settings: ((String) -> String?) throws(NotASeed) -> Settings
  ) {
    let found = Key.allCases.lazy.map { (key: $0, name: "\(name)-Secret\($0.suffix)") }
      .first { strings.peek($0.name)?.isEmpty == false }
    guard let found, let secret = strings.peek(found.name) else { return }
    do throws(NotASeed) {
      let values = Dictionary(
        uniqueKeysWithValues: names.map { ($0, Self.text(strings.peek("\(name)-\($0)"))) })
      seeds.append(try settings { values[$0] ?? nil }.seed(secret, in: found.key))
      for name in [found.name] + names.map({ "\(name)-\($0)" }) { _ = strings.take(name) }
    } catch {
      wrong.append(found.name)
    }
  }

  /// Returns a setting as text; nil if it is missing or empty.
  private static func text(_ value: SecretSlice?) -> String? {
    guard let value, !value.isEmpty else { return nil }
    return String(decoding: value.publicBytes(), as: UTF8.self)
  }
}

/// A string does not have the form of a seed.
private struct NotASeed: Error {}

/// The encoding of a key, in the order in which KeePass looks for them.
private enum Key: CaseIterable {
  case text, hex, base32, base64

  /// The end of the name of KeePass's own string.
  var suffix: String {
    switch self {
    case .text: ""
    case .hex: "-Hex"
    case .base32: "-Base32"
    case .base64: "-Base64"
    }
  }

  /// The encoding with a name of KeeOtp.
  init?(name: String) {
    switch name.lowercased() {
    case "base32": self = .base32
    case "base64": self = .base64
    case "hex": self = .hex
    case "utf8", "utf-8": self = .text
    default: return nil
    }
  }

  /// Returns the bytes of a key; nil if it is empty or not in this encoding.
  func bytes(_ key: SecretSlice) -> SecretSlice? {
    let decoded: SecretSlice?
    switch self {
    case .text: decoded = key
    case .hex: decoded = Self.fromHexadecimal(key)
    case .base64: decoded = key.decodedBase64()
    case .base32:
      do throws(Base32Error) {
        decoded = try unsafe key.withBytes { bytes throws(Base32Error) in
          SecretSlice(try unsafe Base32.decode(bytes))
        }
      } catch {
        decoded = nil
      }
    }
    return decoded?.isEmpty == false ? decoded : nil
  }

  private static func fromHexadecimal(_ key: SecretSlice) -> SecretSlice? {
    guard key.count.isMultiple(of: 2) else { return nil }
    var decoded = SecretBytes(capacity: key.count / 2)
    let isSound = unsafe key.withBytes { digits in
      for index in stride(from: 0, to: digits.count, by: 2) {
        guard let high = Hexadecimal.value(ofDigitInAnyCase: unsafe digits[index]),
          let low = Hexadecimal.value(ofDigitInAnyCase: unsafe digits[index + 1])
        else { return false }
        decoded.append(high << 4 | low)
      }
      return true
    }
    return isSound ? SecretSlice(decoded) : nil
  }
}

/// The settings of a seed, as they are in an `otpauth` URI.
private struct Settings {
  enum Name: String {
    case period, digits, algorithm, counter
  }

  /// True for codes by a counter.
  var isCounted = false
  /// True for Steam codes.
  var isSteam = false
  private var values: [Name: String] = [:]

  init(isCounted: Bool = false) { self.isCounted = isCounted }

  /// Sets a value; a missing one is ignored.
  mutating func set(_ name: Name, _ text: String?) throws(NotASeed) {
    guard let text else { return }
    let isValid: Bool
    switch name {
    case .period: isValid = Int64(text).map { (1...1 << 31).contains($0) } ?? false
    case .digits: isValid = ["6", "7", "8"].contains(text)
    case .counter: isValid = UInt64(text) != nil
    case .algorithm: isValid = ["SHA1", "SHA256", "SHA512"].contains(text)
    }
    guard isValid else { throw NotASeed() }
    values[name] = text
  }

  /// Returns the seed: Base32 if all settings are the usual ones, else a URI.
  func seed(_ key: SecretSlice, in encoding: Key) throws(NotASeed) -> SecretSlice {
    guard let bytes = encoding.bytes(key) else { throw NotASeed() }
    var base32 = SecretBytes()
    unsafe bytes.withBytes { unsafe Base32.append($0, to: &base32) }
    let usual: [(Name, String)] = [(.period, "30"), (.digits, "6"), (.algorithm, "SHA1")]
    var settings = usual.compactMap { name, usual in
      values[name].flatMap { $0 == usual ? nil : "&\(name.rawValue)=\($0)" }
    }
    if isCounted { settings.append("&counter=\(values[.counter] ?? "0")") }
    if isSteam { settings = ["&encoder=steam"] }
    if settings.isEmpty { return SecretSlice(base32) }
    var text = SecretBytes()
    text.append("otpauth://\(isCounted ? "hotp" : "totp")/?secret=")
    text.append(SecretSlice(base32))
    text.append(settings.joined())
    return SecretSlice(text)
  }
}

/// The text of KeeOtp: parameters in any order, percent-encoded, whose names are not case-sensitive.
private enum KeeOtp {
  static func seed(_ text: SecretSlice) throws(NotASeed) -> SecretSlice {
    var parameters: [String: SecretSlice] = [:]
    for (name, value) in try parts(of: text) {
      guard parameters.updateValue(value, forKey: name) == nil else { throw NotASeed() }
    }
    func word(_ name: String) -> String? {
      parameters.removeValue(forKey: name).map { String(decoding: $0.publicBytes(), as: UTF8.self) }
    }
    guard let key = parameters.removeValue(forKey: "key") else { throw NotASeed() }
    var settings = Settings()
    switch word("type")?.lowercased() ?? "totp" {
    case "totp": break
    case "hotp": settings.isCounted = true
    case "steam": settings.isSteam = true
    default: throw NotASeed()
    }
    let (step, size, counter) = (word("step"), word("size"), word("counter"))
    if settings.isCounted {
      try settings.set(.counter, counter)
    } else {
      try settings.set(.period, step)
    }
    if !settings.isSteam { try settings.set(.digits, size) }
    try settings.set(.algorithm, word("otphashmode")?.uppercased())
    guard let encoding = Key(name: word("encoding") ?? "base32"), parameters.isEmpty else {
      throw NotASeed()
    }
    return try settings.seed(key, in: encoding)
  }

  private static func parts(of text: SecretSlice) throws(NotASeed) -> [(
    name: String, value: SecretSlice
  )] {
    let ends = unsafe text.withBytes { bytes in
      bytes.indices.filter { unsafe bytes[$0] == UInt8(ascii: "&") } + [bytes.count]
    }
    var parts: [(name: String, value: SecretSlice)] = []
    var start = 0
    for end in ends {
      let part = text.part(start..<end)
      start = end + 1
      let equals = unsafe part.withBytes { unsafe $0.firstIndex(of: UInt8(ascii: "=")) }
      guard let equals, equals <= nameLimit, let value = decoded(part.part(equals + 1..<part.count))
      else {
        throw NotASeed()
      }
      let name = String(decoding: part.part(0..<equals).publicBytes(), as: UTF8.self)
      parts.append((name.lowercased(), value))
    }
    return parts
  }

  // The longest known name is `otpHashMode`; a longer one may be a part of a secret and is not copied.
  private static let nameLimit = 16

  // Decodes percent escapes (RFC 3986, section 2.1). Returns nil for a percent sign without two digits.
  private static func decoded(_ text: SecretSlice) -> SecretSlice? {
    var bytes = SecretBytes(capacity: text.count)
    let isSound = unsafe text.withBytes { text in
      var index = 0
      while index < text.count {
        let byte = unsafe text[index]
        guard byte == UInt8(ascii: "%") else {
          bytes.append(byte)
          index += 1
          continue
        }
        guard index + 2 < text.count,
          let high = Hexadecimal.value(ofDigitInAnyCase: unsafe text[index + 1]),
          let low = Hexadecimal.value(ofDigitInAnyCase: unsafe text[index + 2])
        else { return false }
        bytes.append(high << 4 | low)
        index += 3
      }
      return true
    }
    return isSound ? SecretSlice(bytes) : nil
  }
}
