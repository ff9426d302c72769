internal import Encoding
internal import KeyringModel
internal import Secrets

/// References from the strings of a KeePass entry to other entries: `{REF:P@I:46C9B1FF...}` represents the password of
/// the entry with this UUID (keepass.info/help/base/fieldrefs.html).
struct KeePassReferences {
  /// A string with its references replaced.
  struct Resolved {
    package let value: SecretSlice
    /// True if it contains a protected string of another entry.
    let isSecret: Bool
  }

  /// The strings that a reference can name, by the UUID of their entry.
  private var entries: [String: [String: KeePassStrings.Item]] = [:]
  /// A short reference can be replaced by a long text, and a file can have many references to it.
  private var room = AttachmentRoom()

  private static let mark = Array("{REF:".utf8)
  private static let fields: [UInt8: String] = [
    UInt8(ascii: "T"): "Title", UInt8(ascii: "U"): "UserName", UInt8(ascii: "P"): "Password",
    UInt8(ascii: "A"): "URL", UInt8(ascii: "N"): "Notes",
  ]
  // The limits for nested references, and for all references of one string.
  private static let depthLimit = 10
  private static let countLimit = 1000

  /// Collects the entries of a file.
  init(_ root: XMLNode) {
    for group in root.all("Group") { learn(group) }
  }

  private mutating func learn(_ group: XMLNode) {
    for entry in group.all("Entry") {
      guard let identity = entry["UUID"]?.text.decodedBase64()?.publicBytes() else { continue }
      let named = KeePassStrings(entry).rest.filter { Self.fields.values.contains($0.key) }
      entries[Self.hexadecimal(identity)] = Dictionary(named.map { ($0.key, $0) }) { first, _ in first }
    }
    for inner in group.all("Group") { learn(inner) }
  }

  /// Replaces the references of a string.
  ///
  /// - Returns: nil if a reference is not found, searches for anything but a UUID, or the result is too large, also
  ///   together with those of the other strings.
  mutating func resolved(_ text: SecretSlice) -> Resolved? {
    var count = 0
    return resolved(text, depth: 0, &count)
  }

  private mutating func resolved(_ text: SecretSlice, depth: Int, _ count: inout Int) -> Resolved? {
    guard var next = Self.reference(in: text, from: 0) else { return Resolved(value: text, isSecret: false) }
    var content = SecretBytes()
    var isSecret = false
    var position = 0
    while true {
      count += 1
      guard depth < Self.depthLimit, count <= Self.countLimit,
        let string = string(text.part(next.lowerBound + Self.mark.count..<next.upperBound - 1)),
        !string.isEncrypted, let found = resolved(string.value, depth: depth + 1, &count),
        room.take(found.value)
      else { return nil }
      content.append(text.part(position..<next.lowerBound))
      content.append(found.value)
      guard content.count <= ImportDraft.secretLimit else { return nil }
      if string.isProtected || string.key == "Password" || found.isSecret { isSecret = true }
      position = next.upperBound
      guard let following = Self.reference(in: text, from: position) else { break }
      next = following
    }
    content.append(text.part(position..<text.count))
    return Resolved(value: SecretSlice(content), isSecret: isSecret)
  }

  // Returns the string that `P@I:46C9B1FF...` refers to.
  private func string(_ words: SecretSlice) -> KeePassStrings.Item? {
    let words = words.publicBytes()
    guard words.count > 4, words[1] == UInt8(ascii: "@"), words[2] & 0xDF == UInt8(ascii: "I"),
      words[3] == UInt8(ascii: ":"), let key = Self.fields[words[0] & 0xDF]
    else { return nil }
    let identity = String(decoding: words[4...], as: UTF8.self).uppercased()
    guard let strings = entries[identity] else { return nil }
    // An entry has these strings even if the file does not contain them.
    return strings[key]
      ?? KeePassStrings.Item(
        key: key, value: SecretSlice(SecretBytes()), isProtected: false, isEncrypted: false)
  }

  // Returns the range of `{REF:...}`, ignoring case.
  private static func reference(in text: SecretSlice, from start: Int) -> Range<Int>? {
    unsafe text.withBytes { bytes in
      guard start + mark.count < bytes.count else { return nil }
      for position in start..<bytes.count - mark.count {
        guard unsafe bytes[position] == mark[0] else { continue }
        let isMark = mark.indices.allSatisfy { index in
          let byte = unsafe bytes[position + index]
          return (0x61...0x7A).contains(byte) ? byte & 0xDF == mark[index] : byte == mark[index]
        }
        guard isMark else { continue }
        guard let end = unsafe bytes[position...].firstIndex(of: UInt8(ascii: "}")) else { return nil }
        return position..<end + 1
      }
      return nil
    }
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { Hexadecimal.text($0, digits: 2, uppercase: true) }.joined()
  }
}
