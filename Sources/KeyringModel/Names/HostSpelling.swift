internal import Encoding

/// A host in the form in which its spellings are compared.
///
/// Programs spell one host in several ways: a browser sends `xn--bcher-kva.example` and `2001:db8::1`, git and docker send
/// what the user has typed, such as `bücher.example` and `2001:0DB8:0:0:0:0:0:1`. Percent escapes are decoded, names are
/// compared in Unicode and lower case, and addresses by their bytes, in all forms that inet_aton(3) reads.
package struct HostSpelling: Equatable, Sendable {
  /// The canonical form. The comparison of strings ignores how letters with accents are composed.
  package let text: String
  /// Texts of which every spelling has at least one, in any case of its letters, unless the spelling has percent escapes or
  /// characters that are ignored. The empty text if they have none in common.
  package let searchTexts: [String]
  /// True if programs may map the name to another one (UTS 46): it has characters with other forms, such as wide letters.
  package let isUncertain: Bool

  /// Creates the form of a host.
  ///
  /// - Parameter host: A host of ``HostName``: without brackets and port.
  package init(_ host: [UInt8]) {
    let decoded = Self.mapped(String(decoding: PercentEscapes.decode(host) ?? host, as: UTF8.self))
    // A zone follows a percent sign (RFC 4007, 11).
    if let address = Self.address(String(decoded.prefix { $0 != "%" })) {
      let isIPv4 = address[..<5].allSatisfy { $0 == 0 } && address[5] == 0xffff
      text =
        isIPv4
        ? Self.dotted(UInt32(address[6]) << 16 | UInt32(address[7]))
        : address.map { String($0, radix: 16) }.joined(separator: ":")
      searchTexts = [isIPv4 ? "" : ":"]
      isUncertain = false
      return
    }
    let labels = decoded.split(omittingEmptySubsequences: false) { Self.dots.contains($0) }.map {
      Self.label($0)
    }
    var name = labels.joined(separator: ".")
    if name.count > 1, name.last == "." { name.removeLast() }
    if let number = Self.number(name) {
      (text, searchTexts, isUncertain) = (Self.dotted(number), [""], false)
      return
    }
    text = name
    isUncertain = name.unicodeScalars.contains { !$0.isASCII && $0.properties.changesWhenNFKCCaseFolded }
    // A domain of the top level usually is a name in ASCII.
    let plain = labels.filter { label in
      label.count > 1 && label.utf8.allSatisfy { $0 < 0x80 } && !label.contains(bytesOf: "ss")
    }.max { $0.count < $1.count }
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
      searchTexts = text.contains(bytesOf: "ss") ? [plain ?? ""] : [text]
    } else {
      searchTexts = plain.map { [$0] } ?? [text, "xn--"]
    }
  }

  /// Maps the characters that IDNA 2003 and IDNA 2008 treat differently (UTS 46, 6), and removes those that both ignore.
  private static func mapped(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars where !scalar.properties.isDefaultIgnorableCodePoint {
      switch scalar {
      case "\u{DF}", "\u{1E9E}": result.append(contentsOf: "ss".unicodeScalars)
      case "\u{3C2}": result.append("\u{3C3}")
      default: result.append(scalar)
      }
    }
    return String(result)
  }

  /// The dot, and the characters that IDNA treats as one (RFC 3490, 3.1).
  private static let dots: Set<Character> = [".", "\u{3002}", "\u{FF0E}", "\u{FF61}"]

  // MARK: Names

  private static func label(_ label: Substring) -> String {
    let lower = label.lowercased()
    guard lower.hasPrefix("xn--") else { return lower }
    return decoded(lower.utf8.dropFirst(4)).map { mapped($0.lowercased()) } ?? lower
  }

  /// Decodes a label in Punycode (RFC 3492, 6.2).
  ///
  /// - Parameter label: The label without its prefix. A label has at most 63 bytes (RFC 1035, 2.3.4).
  /// - Returns: nil if it is not valid.
  private static func decoded(_ label: Substring.UTF8View.SubSequence) -> String? {
    guard label.count <= 63, label.allSatisfy({ $0 < 0x80 }) else { return nil }
    let mark = label.lastIndex(of: UInt8(ascii: "-"))
    var output = mark.map { label[..<$0].map { UInt32($0) } } ?? []
    var rest = mark.map { label[label.index(after: $0)...] } ?? label[...]
    var (code, position, bias): (UInt32, UInt32, UInt32) = (128, 0, 72)
    while !rest.isEmpty {
      let old = position
      var (weight, k): (UInt32, UInt32) = (1, 36)
      while true {
        guard let byte = rest.popFirst(), let digit = digit(byte) else { return nil }
        let (step, overflow) = digit.multipliedReportingOverflow(by: weight)
        let (sum, overflow2) = position.addingReportingOverflow(step)
        if overflow || overflow2 { return nil }
        position = sum
        let threshold = k <= bias ? 1 : min(k - bias, 26)
        if digit < threshold { break }
        let (next, overflow3) = weight.multipliedReportingOverflow(by: 36 - threshold)
        if overflow3 { return nil }
        weight = next
        k += 36
      }
      let count = UInt32(output.count) + 1
      bias = adapted(position - old, count, isFirst: old == 0)
      let (sum, overflow) = code.addingReportingOverflow(position / count)
      if overflow { return nil }
      code = sum
      position %= count
      output.insert(code, at: Int(position))
      position += 1
    }
    var text = String.UnicodeScalarView()
    for value in output {
      guard let scalar = Unicode.Scalar(value) else { return nil }
      text.append(scalar)
    }
    return String(text)
  }

  private static func digit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a"))
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 26
    default: nil
    }
  }

  /// Returns the next bias (RFC 3492, 6.1).
  private static func adapted(_ distance: UInt32, _ count: UInt32, isFirst: Bool) -> UInt32 {
    var delta = isFirst ? distance / 700 : distance / 2
    delta += delta / count
    var k: UInt32 = 0
    while delta > 455 {
      delta /= 35
      k += 36
    }
    return k + 36 * delta / (delta + 38)
  }

  // MARK: Addresses

  /// Returns the eight groups of an IPv6 address (RFC 4291, 2.2); nil for any other text.
  private static func address(_ text: String) -> [UInt16]? {
    var groups: [UInt16] = []
    var gap: Int?
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count >= 3, parts.count <= 9 else { return nil }
    for (number, part) in parts.enumerated() {
      if part.isEmpty {
        // The text may begin or end with the gap, which then has two empty parts.
        if number == 0 || number == parts.count - 1 {
          guard parts[number == 0 ? 1 : number - 1].isEmpty else { return nil }
        } else {
          guard gap == nil else { return nil }
          gap = groups.count
        }
      } else if number == parts.count - 1, let bytes = bytes(part) {
        groups += [
          UInt16(bytes[0]) << 8 | UInt16(bytes[1]), UInt16(bytes[2]) << 8 | UInt16(bytes[3]),
        ]
      } else {
        guard part.utf8.count <= 4, part.first != "+", let value = UInt16(part, radix: 16) else {
          return nil
        }
        groups.append(value)
      }
    }
    guard let gap else { return groups.count == 8 ? groups : nil }
    guard groups.count < 8 else { return nil }
    groups.insert(contentsOf: [UInt16](repeating: 0, count: 8 - groups.count), at: gap)
    return groups
  }

  /// Returns an IPv4 address in any form that inet_aton(3) reads: one to four numbers, each decimal, octal or hexadecimal,
  /// of which the last one is for all remaining bytes; nil for any other text.
  private static func number(_ text: String) -> UInt32? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 4 else { return nil }
    var address: UInt64 = 0
    for (index, part) in parts.enumerated() {
      guard let value = unsigned(part) else { return nil }
      let count = index == parts.count - 1 ? 5 - parts.count : 1
      guard value < 1 << (8 * UInt64(count)) else { return nil }
      address |= value << UInt64(8 * (4 - index - count))
    }
    return UInt32(address)
  }

  private static func unsigned(_ text: Substring) -> UInt64? {
    let (digits, radix): (Substring, Int) =
      if text.hasPrefix("0x") {
        (text.dropFirst(2), 16)
      } else if text.hasPrefix("0") && text.utf8.count > 1 {
        (text.dropFirst(), 8)
      } else {
        (text, 10)
      }
    return digits.first == "+" || digits.first == "-" ? nil : UInt64(digits, radix: radix)
  }

  private static func dotted(_ address: UInt32) -> String {
    [24, 16, 8, 0].map { String(address >> UInt32($0) & 0xff) }.joined(separator: ".")
  }

  /// Returns the bytes of an IPv4 address, which may end an IPv6 address.
  private static func bytes(_ text: Substring) -> [UInt8]? {
    let bytes = text.split(separator: ".", omittingEmptySubsequences: false).compactMap {
      UInt8($0)
    }
    return bytes.count == 4 && text.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 3
      ? bytes : nil
  }
}
