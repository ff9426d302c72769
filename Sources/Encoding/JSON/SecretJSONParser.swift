internal import Glibc
internal import Secrets

/// A value whose texts are ranges of content that is still being collected.
indirect enum SecretJSONNode {
  case null
  case boolean(Bool)
  case number(String)
  case string(Range<Int>)
  case array([SecretJSONNode])
  case object([(name: String, value: SecretJSONNode)])

  /// The value with the texts that its ranges stand for.
  func value(in content: SecretSlice) -> SecretJSON {
    switch self {
    case .null: .null
    case .boolean(let flag): .boolean(flag)
    case .number(let digits): .number(digits)
    case .string(let range): .string(content.part(range))
    case .array(let nodes): .array(nodes.map { $0.value(in: content) })
    case .object(let members):
      .object(members.map { SecretJSON.Member(name: $0.name, value: $0.value.value(in: content)) })
    }
  }
}

/// One run over a JSON document. It copies no text anywhere but into its own wiped content.
struct SecretJSONParser: ~Copyable {
  private static let depthLimit = 64
  // Each value takes many times the one byte that it is written with.
  private static let countLimit = 2_000_000

  private var content: SecretBytes
  private var position = 0
  private var depth = 0
  private var count = 0

  /// - Parameter capacity: The size of the document: no text is longer than it is written.
  init(capacity: Int) { content = SecretBytes(capacity: capacity) }

  /// Hands over the texts, one after the other.
  mutating func takeContent() -> SecretBytes {
    var taken = SecretBytes()
    swap(&taken, &content)
    return taken
  }

  mutating func document(_ text: UnsafeRawBufferPointer) throws(SecretJSONError) -> SecretJSONNode {
    position = unsafe text.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    unsafe skipSpace(text)
    guard position < text.count else { throw .empty }
    let node = try unsafe value(text)
    unsafe skipSpace(text)
    guard position == text.count else { throw unsafe unexpected(text) }
    return node
  }

  private mutating func value(_ text: UnsafeRawBufferPointer) throws(SecretJSONError) -> SecretJSONNode {
    count += 1
    guard count <= Self.countLimit else { throw .tooMany(limit: Self.countLimit) }
    switch try unsafe peek(text) {
    case UInt8(ascii: "{"):
      return try unsafe nested(text) { parser, text throws(SecretJSONError) in
        try unsafe parser.object(text)
      }
    case UInt8(ascii: "["):
      return try unsafe nested(text) { parser, text throws(SecretJSONError) in
        try unsafe parser.array(text)
      }
    case UInt8(ascii: "\""): return .string(try unsafe string(text))
    case UInt8(ascii: "t"): return try unsafe word("true", .boolean(true), text)
    case UInt8(ascii: "f"): return try unsafe word("false", .boolean(false), text)
    case UInt8(ascii: "n"): return try unsafe word("null", .null, text)
    default: return .number(try unsafe number(text))
    }
  }

  private mutating func nested(
    _ text: UnsafeRawBufferPointer,
    _ body: (inout SecretJSONParser, UnsafeRawBufferPointer) throws(SecretJSONError) -> SecretJSONNode
  ) throws(SecretJSONError) -> SecretJSONNode {
    guard depth < Self.depthLimit else { throw .tooDeep(line: unsafe line(text)) }
    depth += 1
    defer { depth -= 1 }
    position += 1
    return try unsafe body(&self, text)
  }

  private mutating func object(_ text: UnsafeRawBufferPointer) throws(SecretJSONError) -> SecretJSONNode {
    var members: [(name: String, value: SecretJSONNode)] = []
    var names: Set<String> = []
    unsafe skipSpace(text)
    if try unsafe take(UInt8(ascii: "}"), text) { return .object([]) }
    while true {
      unsafe skipSpace(text)
      guard try unsafe peek(text) == UInt8(ascii: "\"") else { throw unsafe unexpected(text) }
      let range = try unsafe string(text)
      let name = unsafe content.withBytes { unsafe String(decoding: $0[range], as: UTF8.self) }
      content.truncate(to: range.lowerBound)
      guard names.insert(name).inserted else { throw .duplicateName(line: unsafe line(text)) }
      unsafe skipSpace(text)
      guard try unsafe take(UInt8(ascii: ":"), text) else { throw unsafe unexpected(text) }
      unsafe skipSpace(text)
      members.append((name, try unsafe value(text)))
      unsafe skipSpace(text)
      if try unsafe take(UInt8(ascii: "}"), text) { return .object(members) }
      guard try unsafe take(UInt8(ascii: ","), text) else { throw unsafe unexpected(text) }
    }
  }

  private mutating func array(_ text: UnsafeRawBufferPointer) throws(SecretJSONError) -> SecretJSONNode {
    var values: [SecretJSONNode] = []
    unsafe skipSpace(text)
    if try unsafe take(UInt8(ascii: "]"), text) { return .array([]) }
    while true {
      unsafe skipSpace(text)
      values.append(try unsafe value(text))
      unsafe skipSpace(text)
      if try unsafe take(UInt8(ascii: "]"), text) { return .array(values) }
      guard try unsafe take(UInt8(ascii: ","), text) else { throw unsafe unexpected(text) }
    }
  }

  private mutating func word(
    _ word: StaticString, _ node: SecretJSONNode, _ text: UnsafeRawBufferPointer
  ) throws(SecretJSONError) -> SecretJSONNode {
    let bytes = Array(word.description.utf8)
    for byte in bytes {
      guard try unsafe take(byte, text) else { throw unsafe unexpected(text) }
    }
    return node
  }

  // RFC 8259, section 6.
  private mutating func number(_ text: UnsafeRawBufferPointer) throws(SecretJSONError) -> String {
    let start = position
    _ = try unsafe take(UInt8(ascii: "-"), text)
    if try unsafe !take(UInt8(ascii: "0"), text) { try unsafe digits(text) }
    if position < text.count, unsafe text[position] == UInt8(ascii: ".") {
      position += 1
      try unsafe digits(text)
    }
    if position < text.count, unsafe text[position] | 0x20 == UInt8(ascii: "e") {
      position += 1
      if position < text.count, unsafe "+-".utf8.contains(text[position]) { position += 1 }
      try unsafe digits(text)
    }
    return unsafe String(decoding: text[start..<position], as: UTF8.self)
  }

  private mutating func digits(_ text: UnsafeRawBufferPointer) throws(SecretJSONError) {
    let start = position
    while position < text.count, unsafe (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[position]) {
      position += 1
    }
    if position == start { throw position < text.count ? unsafe unexpected(text) : .truncated }
  }

  // MARK: Texts

  /// Decodes a text to the end of the content.
  private mutating func string(_ text: UnsafeRawBufferPointer) throws(SecretJSONError) -> Range<Int> {
    position += 1
    let start = content.count
    var stretch = position
    while true {
      guard position < text.count else { throw .truncated }
      let byte = unsafe text[position]
      guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else {
        if byte < 0x20 { throw unsafe unexpected(text) }
        position += 1
        continue
      }
      unsafe content.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[stretch..<position]))
      position += 1
      if byte == UInt8(ascii: "\"") { break }
      try unsafe escape(text)
      stretch = position
    }
    let isUnicode = unsafe content.withBytes {
      unsafe SecretText.isUTF8(UnsafeRawBufferPointer(rebasing: $0[start...]))
    }
    guard isUnicode else { throw .notUnicode(line: unsafe line(text)) }
    return start..<content.count
  }

  private mutating func escape(_ text: UnsafeRawBufferPointer) throws(SecretJSONError) {
    let byte = try unsafe peek(text)
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(byte)
    case UInt8(ascii: "b"): content.append(0x08)
    case UInt8(ascii: "f"): content.append(0x0C)
    case UInt8(ascii: "n"): content.append(0x0A)
    case UInt8(ascii: "r"): content.append(0x0D)
    case UInt8(ascii: "t"): content.append(0x09)
    case UInt8(ascii: "u"):
      var value = try unsafe hexadecimal(text)
      if (0xD800..<0xDC00).contains(value), position + 1 < text.count,
        unsafe text[position] == UInt8(ascii: "\\"),
        unsafe text[position + 1] == UInt8(ascii: "u")
      {
        position += 2
        let low = try unsafe hexadecimal(text)
        guard (0xDC00..<0xE000).contains(low) else { throw .notUnicode(line: unsafe line(text)) }
        value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
      }
      guard let scalar = Unicode.Scalar(value) else { throw .notUnicode(line: unsafe line(text)) }
      for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { content.append(byte) }
    default:
      position -= 1
      throw unsafe unexpected(text)
    }
  }

  private mutating func hexadecimal(_ text: UnsafeRawBufferPointer) throws(SecretJSONError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard position < text.count else { throw .truncated }
      guard let digit = Self.digit(unsafe text[position]) else { throw unsafe unexpected(text) }
      value = value << 4 | digit
      position += 1
    }
    return value
  }

  private static func digit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
  }

  // MARK: Steps

  private func peek(_ text: UnsafeRawBufferPointer) throws(SecretJSONError) -> UInt8 {
    guard position < text.count else { throw .truncated }
    return unsafe text[position]
  }

  private mutating func take(_ byte: UInt8, _ text: UnsafeRawBufferPointer) throws(SecretJSONError) -> Bool {
    guard try unsafe peek(text) == byte else { return false }
    position += 1
    return true
  }

  private mutating func skipSpace(_ text: UnsafeRawBufferPointer) {
    while position < text.count, unsafe [0x20, 0x0A, 0x0D, 0x09].contains(text[position]) { position += 1 }
  }

  private func line(_ text: UnsafeRawBufferPointer) -> Int {
    unsafe 1 + text[..<min(position, text.count)].count { $0 == 0x0A }
  }

  private func unexpected(_ text: UnsafeRawBufferPointer) -> SecretJSONError {
    .unexpected(line: unsafe line(text))
  }
}
