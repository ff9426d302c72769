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

  /// Returns a string without removing it; nil if it is still encrypted.
  func peek(_ key: String) -> SecretSlice? {
    rest.first { $0.key == key && !$0.isEncrypted }?.value
  }

  /// Removes the strings with a prefix that KeePassXC uses for passkeys. Returns the number of passkeys: 0 or 1.
  mutating func takePasskey() -> Int {
    let count = rest.count
    rest.removeAll { $0.key.hasPrefix("KPEX_PASSKEY_") }
    return rest.count < count ? 1 : 0
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
