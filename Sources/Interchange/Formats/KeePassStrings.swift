internal import Encoding
internal import KeyringModel
internal import Secrets

/// The strings of an entry of KeePass.
struct KeePassStrings {
  /// One string.
  struct Item {
    package let key: String
    package let value: SecretSlice
    /// True if KeePass treats it as a secret.
    let isProtected: Bool
    /// True if it was copied from a database without being decrypted.
    let isEncrypted: Bool
  }

  /// The strings that have not been removed yet.
  private(set) var rest: [Item]

  init(_ entry: XMLNode) {
    rest = entry.all("String").compactMap { string in
      guard let value = string["Value"] else { return nil }
      let key = string["Key"].map { String(decoding: $0.text.publicBytes(), as: UTF8.self) } ?? ""
      return Item(
        key: key.isEmpty ? "field" : key, value: value.text,
        isProtected: value.attribute("ProtectInMemory")?.lowercased() == "true",
        isEncrypted: value.attribute("Protected")?.lowercased() == "true")
    }
  }

  /// Replaces references to other entries.
  ///
  /// - Returns: the names of the strings whose references cannot be resolved; these stay unchanged.
  mutating func resolve(_ references: inout KeePassReferences) -> [String] {
    var failed: [String] = []
    for (index, item) in rest.enumerated() where !item.isEncrypted {
      guard let found = references.resolved(item.value) else {
        failed.append(item.key)
        continue
      }
      rest[index] = Item(
        key: item.key, value: found.value, isProtected: item.isProtected || found.isSecret, isEncrypted: false
      )
    }
    return failed
  }

  /// The title, for the report; empty if KeePass treats it as a secret.
  var title: [UInt8] {
    rest.first { $0.key == "Title" && !$0.isProtected && !$0.isEncrypted }?.value.publicBytes() ?? []
  }

  /// Removes and returns a string that becomes public. A protected string stays.
  mutating func takePublic(_ key: String) -> SecretSlice? {
    guard let index = rest.firstIndex(where: { $0.key == key && !$0.isEncrypted && !$0.isProtected }) else {
      return nil
    }
    return rest.remove(at: index).value
  }

  /// Removes and returns a string. A string that is still encrypted stays.
  mutating func take(_ key: String) -> SecretSlice? {
    guard let index = rest.firstIndex(where: { $0.key == key && !$0.isEncrypted }) else { return nil }
    return rest.remove(at: index).value
  }

  /// Removes and returns the one-time-password seeds, in the three known forms.
  ///
  /// - `otp`: an `otpauth` URI (KeePassXC), or `key=BASE32&step=30&size=6` (KeeOtp).
  /// - `TOTP Seed` with `TOTP Settings`, `30;6` (KeeTrayTOTP).
  /// - `TimeOtp-Secret-Base32` with `TimeOtp-Period`, `TimeOtp-Length` and `TimeOtp-Algorithm` (KeePass itself).
  ///
  /// A seed with other values than the usual 30 seconds, 6 digits and SHA-1 becomes an `otpauth` URI.
  mutating func takeSeeds() -> [SecretSlice] {
    var seeds: [SecretSlice] = []
    if let otp = take("otp"), !otp.isEmpty { seeds.append(Self.seed(fromQuery: otp) ?? otp) }
    if let seed = peek("TOTP Seed"), !seed.isEmpty {
      let settings = Self.words(peek("TOTP Settings"), separator: ";")
      // `S` instead of the number of digits means Steam's own alphabet, which no other program supports.
      if settings.count < 2 || Int(settings[1]) != nil {
        _ = (take("TOTP Seed"), take("TOTP Settings"))
        seeds.append(
          Self.uri(seed, period: settings.first, digits: settings.dropFirst().first, algorithm: nil))
      }
    }
    if let seed = take("TimeOtp-Secret-Base32"), !seed.isEmpty {
      let period = Self.words(take("TimeOtp-Period"), separator: ";").first
      let digits = Self.words(take("TimeOtp-Length"), separator: ";").first
      let algorithm = Self.words(take("TimeOtp-Algorithm"), separator: ";").first
      seeds.append(
        Self.uri(
          seed, period: period, digits: digits,
          algorithm: algorithm?.replacing(bytesOf: "HMAC-SHA-", with: "SHA")))
    }
    return seeds
  }

  private func peek(_ key: String) -> SecretSlice? {
    rest.first { $0.key == key && !$0.isEncrypted }?.value
  }

  private static func words(_ text: SecretSlice?, separator: Character) -> [String] {
    guard let text else { return [] }
    return String(decoding: text.publicBytes(), as: UTF8.self).split(separator: separator).map(String.init)
  }

  // Returns the seed of `key=BASE32&step=30&size=6`, or nil if the text has another form.
  private static func seed(fromQuery text: SecretSlice) -> SecretSlice? {
    let isQuery = unsafe text.withBytes { unsafe $0.starts(with: "key=".utf8) }
    guard isQuery else { return nil }
    let end =
      unsafe text.withBytes { bytes in unsafe bytes.firstIndex(of: UInt8(ascii: "&")) } ?? text.count
    let settings = words(text.part(end..<text.count), separator: "&")
    func value(_ name: String) -> String? {
      settings.first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
    }
    let known = ["step", "size", "otpHashMode", "type"]
    guard settings.allSatisfy({ setting in known.contains { setting.hasPrefix("\($0)=") } }),
      value("type").map({ $0.lowercased() == "totp" }) ?? true
    else { return nil }
    return uri(
      text.part(4..<end), period: value("step"), digits: value("size"),
      algorithm: value("otpHashMode")?.uppercased())
  }

  private static func uri(
    _ seed: SecretSlice, period: String?, digits: String?, algorithm: String?
  ) -> SecretSlice {
    let settings = [
      ("period", period == "30" ? nil : period), ("digits", digits == "6" ? nil : digits),
      ("algorithm", algorithm == "SHA1" ? nil : algorithm),
    ].compactMap { name, value in value.map { "&\(name)=\($0)" } }
    if settings.isEmpty { return seed }
    var text = SecretBytes()
    text.append("otpauth://totp/?secret=")
    // Spaces only help people to read the seed; a URI cannot contain them.
    unsafe seed.withBytes { bytes in
      for index in bytes.indices where unsafe bytes[index] != UInt8(ascii: " ") {
        text.append(unsafe bytes[index])
      }
    }
    text.append(settings.joined())
    return SecretSlice(text)
  }

  /// Returns older versions of an entry as JSON: an array of objects with the time and all strings that are decrypted.
  static func history(_ entries: [XMLNode]) -> SecretSlice {
    var json = SecretBytes()
    json.append("[")
    for (index, entry) in entries.enumerated() {
      if index > 0 { json.append(",") }
      json.append("{\"modified\":")
      if let time = entry["Times"]?["LastModificationTime"]?.text {
        json.append(jsonString: time)
      } else {
        json.append("null")
      }
      for string in KeePassStrings(entry).rest where !string.value.isEmpty && !string.isEncrypted {
        json.append(",")
        json.append(jsonString: string.key)
        json.append(":")
        json.append(jsonString: string.value)
      }
      json.append("}")
    }
    json.append("]")
    return SecretSlice(json)
  }
}
