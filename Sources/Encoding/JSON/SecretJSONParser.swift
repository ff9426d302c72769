internal import Secrets

/// A value whose strings are ranges of the content that the parser is still collecting.
indirect enum SecretJSONNode {
  case null
  case boolean(Bool)
  case number(String)
  case string(Range<Int>)
  case array([SecretJSONNode])
  case object([(name: String, value: SecretJSONNode)])

  /// Returns the value with its strings instead of ranges.
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

/// A single-pass parser of a JSON document. It copies strings only into its own content, which is wiped.
struct SecretJSONParser: ~Copyable {
  private static let depthLimit = 64
  // A value can be one byte in the document, but needs many times that in memory.
  private static let countLimit = 2_000_000

  private var content: SecretBytes
  private var count = 0

  /// - Parameter capacity: The size of the document in bytes. A decoded string is never longer than its source.
  init(capacity: Int) { content = SecretBytes(capacity: capacity) }

  /// Returns all strings, concatenated, and transfers their ownership.
  mutating func takeContent() -> SecretBytes {
    var taken = SecretBytes()
    swap(&taken, &content)
    return taken
  }

  /// Reads a document, after a byte order mark if there is one.
  mutating func document(_ text: UnsafeRawBufferPointer) throws(SecretJSONError) -> SecretJSONNode {
    let mark = unsafe text.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let text = unsafe UnsafeRawBufferPointer(rebasing: text[mark...])
    let limits = JSONLimits(size: text.count, depth: Self.depthLimit)
    var position = 0
    do throws(JSONError) {
      var cursor = unsafe try JSONCursor(text, limits: limits)
      guard cursor.peek() != nil else { throw .unexpectedEnd }
      do throws(JSONError) {
        let node = try value(&cursor)
        try cursor.finish()
        return node
      } catch {
        position = cursor.position
        throw error
      }
    } catch {
      let line = unsafe 1 + text[..<(error.offset ?? position)].count { $0 == 0x0A }
      throw unsafe failure(error, line, isBlank: text.allSatisfy { [0x20, 0x0A, 0x0D, 0x09].contains($0) })
    }
  }

  private mutating func value(_ cursor: inout JSONCursor) throws(JSONError) -> SecretJSONNode {
    count += 1
    guard count <= Self.countLimit else { throw .tooLarge(limit: Self.countLimit) }
    switch cursor.peek() {
    case UInt8(ascii: "{"):
      var members: [(name: String, value: SecretJSONNode)] = []
      var keys = try cursor.openObject()
      while let key = try cursor.nextKey(&keys) {
        members.append((cursor.string(of: key), try value(&cursor)))
      }
      return .object(members)
    case UInt8(ascii: "["):
      var values: [SecretJSONNode] = []
      try cursor.open("[")
      while try cursor.nextElement(isFirst: values.isEmpty, end: "]") { values.append(try value(&cursor)) }
      return .array(values)
    case UInt8(ascii: "\""):
      let start = content.count
      cursor.append(try cursor.takeText(), to: &content)
      return .string(start..<content.count)
    case UInt8(ascii: "t"):
      try cursor.takeLiteral("true")
      return .boolean(true)
    case UInt8(ascii: "f"):
      try cursor.takeLiteral("false")
      return .boolean(false)
    case UInt8(ascii: "n"):
      try cursor.takeLiteral("null")
      return .null
    default: return .number(try cursor.takeNumber())
    }
  }

  private func failure(_ error: JSONError, _ line: Int, isBlank: Bool) -> SecretJSONError {
    switch error {
    case .unexpectedEnd: isBlank ? .empty : .truncated
    case .invalidUTF8, .loneSurrogate: .notUnicode(line: line)
    case .duplicateKey: .duplicateName(line: line)
    case .tooDeep: .tooDeep(line: line)
    // Only the number of values has a limit here.
    case .tooLarge(let limit): .tooMany(limit: limit)
    case .byteOrderMark, .unexpectedByte, .controlCharacter, .invalidEscape, .notAnInteger,
      .integerOutOfRange,
      .trailingData, .unexpectedType:
      .unexpected(line: line)
    }
  }
}

extension JSONError {
  /// The offset of the error, in bytes; nil if the error has none.
  fileprivate var offset: Int? {
    switch self {
    case .invalidUTF8(let offset), .unexpectedByte(_, let offset), .controlCharacter(let offset),
      .invalidEscape(let offset), .loneSurrogate(let offset), .notAnInteger(let offset),
      .integerOutOfRange(let offset), .trailingData(let offset), .unexpectedType(let offset):
      offset
    case .tooLarge, .tooDeep, .byteOrderMark, .unexpectedEnd, .duplicateKey: nil
    }
  }

}
