internal import Encoding
internal import KeyringModel

/// The key table as a file of the engine home.
///
/// It has one line per key, subkey and user id. Fields are separated by one space. The last line is `end` and the
/// number of lines before it, so a truncated file is detected:
/// ```
/// keytree-keys 2
/// key C86E40475C0FBD627777428CC11945FA7D8856D8
/// subkey <fingerprint> <key id> <letters> <created> <expires or 0> <revocation or ->
/// user Alice%20Example%20<alice@keytree.example>
/// end 3
/// ```
/// Letters: `-` is always first, `e` encrypts, `s` signs, `d` disabled, `i` invalid, `u` of an algorithm that GnuPG does
/// not know. Times are seconds since 1970. A revocation is its time, followed by a comma and the number of the reason if
/// one is known. User ids are percent-escaped: `%` and everything except printable ASCII.
package enum KeyTableFile {
  private static let firstLine = "keytree-keys 2"

  /// Writes a table.
  ///
  /// - Parameter keys: The keys, each with its primary key first.
  /// - Returns: The file's bytes.
  package static func encode(_ keys: [PublicKey]) -> [UInt8] {
    var lines = [firstLine]
    for key in keys {
      lines.append("key \(key.fingerprint.text)")
      for subkey in key.subkeys {
        lines.append(
          "subkey \(subkey.fingerprint.text) \(subkey.keyID.text) \(letters(subkey)) "
            + "\(seconds(subkey.created)) \(subkey.expires.map(seconds) ?? 0) \(text(subkey.revocation))")
      }
      for user in key.userIDs { lines.append("user \(PercentEscapes.encode(user))") }
    }
    lines.append("end \(lines.count - 1)")
    return Array((lines.joined(separator: "\n") + "\n").utf8)
  }

  /// Reads a table strictly.
  ///
  /// - Parameter bytes: The file's bytes.
  /// - Returns: The keys; nil if the file differs in any way from the output of `encode`.
  package static func decode(_ bytes: [UInt8]) -> [PublicKey]? {
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.utf8.elementsEqual(bytes), text.utf8.last == UInt8(ascii: "\n") else { return nil }
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()[...]
    guard lines.popFirst() == Substring(firstLine), let last = lines.popLast(), last == "end \(lines.count)"
    else { return nil }
    var keys: [PublicKey] = []
    for line in lines {
      let fields = line.split(separator: " ", omittingEmptySubsequences: false)
      switch (fields.first, fields.count) {
      case ("key", 2):
        guard isComplete(keys.last), let fingerprint = Fingerprint(String(fields[1])) else { return nil }
        keys.append(PublicKey(fingerprint: fingerprint, userIDs: [], subkeys: [], hasSecret: false))
      case ("subkey", 7):
        guard !keys.isEmpty, let subkey = subkey(fields) else { return nil }
        keys[keys.count - 1].subkeys.append(subkey)
      case ("user", 2):
        guard !keys.isEmpty, let user = PercentEscapes.decode(fields[1].utf8) else { return nil }
        keys[keys.count - 1].userIDs.append(String(decoding: user, as: UTF8.self))
      default: return nil
      }
    }
    // Numbers and escapes have several spellings, of which only one is written.
    return isComplete(keys.last) && encode(keys) == bytes ? keys : nil
  }

  private static func isComplete(_ key: PublicKey?) -> Bool {
    key == nil || key?.subkeys.first?.fingerprint == key?.fingerprint
  }

  private static func letters(_ subkey: PublicKey.Subkey) -> String {
    var letters = "-"
    if subkey.canEncrypt { letters += "e" }
    if subkey.canSign { letters += "s" }
    if subkey.disabled { letters += "d" }
    if subkey.invalid { letters += "i" }
    if subkey.isUnsupported { letters += "u" }
    return letters
  }

  private static func subkey(_ fields: [Substring]) -> PublicKey.Subkey? {
    guard let fingerprint = Fingerprint(String(fields[1])), let keyID = KeyID(String(fields[2])),
      let created = Int(fields[4]), let expires = Int(fields[5]), let revocation = revocation(fields[6])
    else { return nil }
    let letters = fields[3]
    let subkey = PublicKey.Subkey(
      fingerprint: fingerprint, keyID: keyID,
      canEncrypt: letters.contains("e"), canSign: letters.contains("s"),
      created: Timestamp(seconds: created), expires: expires > 0 ? Timestamp(seconds: expires) : nil,
      revocation: revocation, disabled: letters.contains("d"), invalid: letters.contains("i"),
      isUnsupported: letters.contains("u"))
    return Self.letters(subkey) == letters ? subkey : nil
  }

  private static func text(_ revocation: KeyRevocation?) -> String {
    guard let revocation else { return "-" }
    let reason = revocation.reason.map { ",\($0.rawValue)" } ?? ""
    return "\(seconds(revocation.created))\(reason)"
  }

  /// Returns the revocation in a field, nil for a key that is not revoked; nil if the field has another form.
  private static func revocation(_ field: Substring) -> KeyRevocation?? {
    if field == "-" { return .some(nil) }
    let words = field.split(separator: ",", omittingEmptySubsequences: false)
    guard words.count <= 2, let seconds = Int(words[0]) else { return nil }
    let created = Timestamp(seconds: seconds)
    guard words.count == 2 else { return KeyRevocation(created: created, reason: nil) }
    guard let number = UInt8(words[1]), let reason = KeyRevocation.Reason(rawValue: number) else {
      return nil
    }
    return KeyRevocation(created: created, reason: reason)
  }

  private static func seconds(_ time: Timestamp) -> Int { Int(time.microseconds / 1_000_000) }
}
