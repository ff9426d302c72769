internal import Encoding

/// One component of an item path: a text reduced to the characters `[a-z0-9._@-]`.
package struct ReadableComponent {
  /// The component as ASCII bytes; never empty.
  private(set) var bytes: [UInt8] = []
  /// A Boolean value that indicates whether another text could have the same component.
  private(set) var isLossy = false

  /// The maximum size of a component, in bytes.
  package static let maximumSize = 100
  /// The number of hexadecimal digits of the digest at the end of a name.
  static let digestSize = 10

  private static let filler = UInt8(ascii: "_")

  /// Makes a component from any bytes.
  ///
  /// ASCII letters become lower case and all other bytes that are not allowed become `_`. A leading `.` or `-` and a
  /// trailing `.` become `_`, so that no component is a hidden file, is parsed as an option, or is trimmed by a file
  /// system. An empty component becomes `_`, the name of a DOS device gets the prefix `_`, and a component that is too
  /// long is truncated.
  init(_ text: some Collection<UInt8>) {
    bytes.reserveCapacity(min(text.count, Self.maximumSize))
    for byte in text.prefix(Self.maximumSize) {
      let readable = Self.readable(byte)
      bytes.append(readable)
      if readable != byte { isLossy = true }
    }
    if text.count > bytes.count { isLossy = true }
    if let first = bytes.first, first == UInt8(ascii: ".") || first == UInt8(ascii: "-") {
      bytes[0] = Self.filler
      isLossy = true
    }
    if bytes.isEmpty || Self.isDevice(bytes) {
      bytes.insert(Self.filler, at: 0)
      bytes = Array(bytes.prefix(Self.maximumSize))
      isLossy = true
    }
    // This check comes last, because truncation may leave a dot at the end.
    if bytes.last == UInt8(ascii: ".") {
      bytes[bytes.count - 1] = Self.filler
      isLossy = true
    }
  }

  private static func readable(_ byte: UInt8) -> UInt8 {
    if isReadable(byte) { return byte }
    return (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : filler
  }

  private static func isReadable(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), filler,
      UInt8(ascii: "."), UInt8(ascii: "@"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  /// Returns true if Windows treats a file of this name as a device. The part before the first dot decides
  /// (Microsoft, "Naming Files, Paths, and Namespaces").
  private static func isDevice(_ name: some Collection<UInt8>) -> Bool {
    let stem = String(decoding: name.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
    switch stem.utf8.count {
    case 3: return ["con", "prn", "aux", "nul"].contains(stem)
    case 4:
      let isNumbered = stem.utf8.last.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
      return isNumbered && (stem.hasPrefix("com") || stem.hasPrefix("lpt"))
    default: return false
    }
  }

  /// Returns true if a part of a path is a valid component, or a valid name if `isName` is true.
  static func isValid(_ component: some BidirectionalCollection<UInt8>, isName: Bool) -> Bool {
    guard !component.isEmpty, component.count <= Self.maximumSize,
      let first = component.first, isReadable(first), first != UInt8(ascii: "."), first != UInt8(ascii: "-"),
      component.last != UInt8(ascii: "."), !isDevice(component)
    else { return false }
    var body = component[...]
    if let tilde = component.firstIndex(of: UInt8(ascii: "~")) {
      let digest = component[component.index(after: tilde)...]
      guard isName, digest.count == Self.digestSize,
        digest.allSatisfy({ Hexadecimal.value(ofDigit: $0) != nil })
      else { return false }
      body = component[..<tilde]
    }
    return body.allSatisfy { isReadable($0) || (isName && $0 == UInt8(ascii: "+")) }
  }
}
