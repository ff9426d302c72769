internal import Encoding
internal import KeyringModel
internal import Secrets

/// A parser of the text that `security dump-keychain -d` prints.
///
/// A value is `"text"`, printed unchanged, or `0x` and hexadecimal digits followed by the text if a byte cannot be
/// printed. `<NULL>` means no value. The first and the last quote of a line therefore enclose a value, which may itself
/// contain quotes.
enum KeychainDumpText {
  /// One item.
  struct Block {
    /// The number of its first line.
    package let line: Int
    /// The class: four letters, or a number if it is not a password.
    package var itemClass = ""
    package var attributes: [(tag: String, value: Value)] = []
    /// The secret; nil if the dump does not contain it.
    package var data: SecretSlice?
  }

  /// The value of an attribute, which is public.
  struct Value {
    package var bytes: [UInt8]
    /// The number, if it is printed as one.
    package var number: Int64?
    var isDate = false

    /// Four letters as the corresponding number.
    var fourLetters: Int64? { bytes.count == 4 ? bytes.reduce(0) { $0 << 8 | Int64($1) } : nil }

    package func isEqual(toText text: String) -> Bool {
      bytes.elementsEqual(text.utf8) || number == Value(bytes: Array(text.utf8)).fourLetters
    }
  }

  /// Returns all items of a dump.
  ///
  /// - Throws: `line` for a line that does not belong in such a dump; `otherFormat` if the text is not a dump.
  static func blocks(of text: SecretSlice) throws(SourceError) -> [Block] {
    var blocks: [Block] = []
    var isData = false
    for (number, range) in unsafe text.withBytes({ unsafe lines(of: $0) }).enumerated() {
      let line = text.part(range)
      if isData {
        isData = false
        if let data = secret(line) {
          blocks[blocks.count - 1].data = data
          continue
        }
        // An empty line is an empty secret. Without any line there is no data.
        if line.isEmpty { blocks[blocks.count - 1].data = SecretSlice(SecretBytes()) }
        guard line.isEmpty || starts(line, "keychain: ") else {
          throw .line(number + 1, "expected the data of an item")
        }
      }
      if starts(line, "keychain: ") {
        blocks.append(Block(line: number + 1))
      } else if blocks.isEmpty {
        if !line.isEmpty { throw .otherFormat(expected: "the output of `security dump-keychain -d`") }
      } else if starts(line, "class: ") {
        blocks[blocks.count - 1].itemClass = word(line.part(7..<line.count))
      } else if starts(line, "data:") {
        isData = true
      } else if starts(line, "    "), let attribute = attribute(line.part(4..<line.count)) {
        blocks[blocks.count - 1].attributes.append(attribute)
      }
      // Other lines contain access rights and the version of the keychain.
    }
    return blocks
  }

  private static func lines(of bytes: UnsafeRawBufferPointer) -> [Range<Int>] {
    var lines: [Range<Int>] = []
    var start = 0
    while start < bytes.count {
      let end = unsafe bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      let hasReturn = unsafe end > start && bytes[end - 1] == UInt8(ascii: "\r")
      lines.append(start..<(hasReturn ? end - 1 : end))
      start = end + 1
    }
    return lines
  }

  private static func starts(_ line: SecretSlice, _ text: String) -> Bool {
    unsafe line.withBytes { unsafe $0.starts(with: text.utf8) }
  }

  // Returns `genp` for `"genp"`. A number such as `0x0000000F` stays unchanged.
  private static func word(_ text: SecretSlice) -> String {
    String(decoding: text.publicBytes().filter { $0 != UInt8(ascii: "\"") && $0 > 0x20 }, as: UTF8.self)
  }

  // Parses `"acct"<blob>="alice"` or `0x00000007 <blob>="label"`. Returns nil for anything else, and for `<NULL>`.
  private static func attribute(_ line: SecretSlice) -> (String, Value)? {
    let bytes = line.publicBytes()
    guard let open = bytes.firstIndex(of: UInt8(ascii: "<")),
      let close = bytes[open...].firstIndex(of: UInt8(ascii: ">")), close + 1 < bytes.count,
      bytes[close + 1] == UInt8(ascii: "=")
    else { return nil }
    let tag = word(line.part(0..<open))
    let type = String(decoding: bytes[open + 1..<close], as: UTF8.self)
    let rest = line.part(close + 2..<bytes.count)
    if starts(rest, "<NULL>") { return nil }
    if type == "uint32" || type == "sint32", starts(rest, "0x") {
      let digits = String(decoding: rest.publicBytes().dropFirst(2).prefix { $0 > 0x20 }, as: UTF8.self)
      guard let number = Int64(digits, radix: 16) else { return nil }
      return (tag, Value(bytes: Array(String(number).utf8), number: number))
    }
    guard let content = secret(rest)?.publicBytes() else { return nil }
    return (tag, Value(bytes: content, isDate: type == "timedate"))
  }

  /// Returns the bytes of a printed value, or nil if it is not one.
  private static func secret(_ line: SecretSlice) -> SecretSlice? {
    unsafe line.withBytes { bytes in
      if unsafe bytes.first == UInt8(ascii: "\"") {
        guard bytes.count >= 2, unsafe bytes[bytes.count - 1] == UInt8(ascii: "\"") else { return nil }
        return line.part(1..<bytes.count - 1)
      }
      guard unsafe bytes.starts(with: "0x".utf8) else { return nil }
      var content = SecretBytes(capacity: bytes.count / 2)
      var high: UInt8?
      for index in 2..<bytes.count {
        guard let digit = unsafe Hexadecimal.value(ofDigitInAnyCase: bytes[index]) else {
          // The text after the digits repeats the value in readable form.
          guard unsafe bytes[index] == UInt8(ascii: " ") else { return nil }
          break
        }
        if let first = high {
          content.append(first << 4 | digit)
          high = nil
        } else {
          high = digit
        }
      }
      return high == nil ? SecretSlice(content) : nil
    }
  }
}

/// The property list of a secure note in the keychain: the text under `NOTE`, and `RTFD` for a formatted one.
///
/// It is not parsed as XML, because it declares a document type, which the XML reader refuses. The text between two
/// tags is enough. If it is not found, the whole list is stored.
struct NotePropertyList {
  /// The text; nil if it was not found.
  let note: SecretSlice?
  /// True if the list contains anything in addition to the text.
  let hasMore: Bool

  init(_ list: SecretSlice) {
    func position(_ text: String, from start: Int) -> Int? {
      let bytes = Array(text.utf8)
      return unsafe list.withBytes { list in
        guard start + bytes.count <= list.count else { return nil }
        return (start...list.count - bytes.count).first {
          unsafe list[$0] == bytes[0] && list[$0..<$0 + bytes.count].elementsEqual(bytes)
        }
      }
    }
    var keys = 0
    var from = 0
    while let key = position("<key>", from: from) {
      keys += 1
      from = key + 5
    }
    hasMore = keys > 1
    guard let key = position("<key>NOTE</key>", from: 0), let open = position("<string>", from: key),
      let close = position("</string>", from: open)
    else {
      note = nil
      return
    }
    note = Self.decoded(list.part(open + 8..<close))
  }

  // Replaces the five predefined entities of XML. Returns nil if the text contains any other entity.
  private static func decoded(_ text: SecretSlice) -> SecretSlice? {
    let entities: [(String, UInt8)] = [
      ("&amp;", UInt8(ascii: "&")), ("&lt;", UInt8(ascii: "<")), ("&gt;", UInt8(ascii: ">")),
      ("&quot;", UInt8(ascii: "\"")), ("&apos;", UInt8(ascii: "'")),
    ]
    return unsafe text.withBytes { bytes in
      var result = SecretBytes(capacity: bytes.count)
      var index = 0
      while index < bytes.count {
        let byte = unsafe bytes[index]
        guard byte == UInt8(ascii: "&") else {
          result.append(byte)
          index += 1
          continue
        }
        guard let entity = entities.first(where: { unsafe bytes[index...].starts(with: $0.0.utf8) }) else {
          return nil
        }
        result.append(entity.1)
        index += entity.0.utf8.count
      }
      return SecretSlice(result)
    }
  }
}
