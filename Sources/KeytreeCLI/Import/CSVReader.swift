package import Secrets

/// Reads RFC 4180 text strictly: what could be read in two ways is an error that names the row.
///
/// Practical where files of browsers differ: a byte order mark, CR LF and LF line ends, empty lines between
/// rows and a missing line end at the end of the file are accepted. Fields keep their exact bytes, which
/// need not be UTF-8; a NUL is refused, because text with NULs is UTF-16 read wrongly. KeePass 1.x writes a quote
/// within quotes as `\"` and a backslash as `\\`; in files with its first row, and in these alone, they are read so.
package enum CSVReader {
  /// The largest file that is read: 64 MiB.
  package static let sizeLimit = 64 << 20
  /// The most columns that are read.
  package static let columnLimit = 256

  /// Reads a whole file.
  ///
  /// - Parameter bytes: The file as it is.
  /// - Returns: Header and rows.
  /// - Throws: `CSVError`, apart from `unknownHeader` and `duplicateColumn`, which are about meaning.
  package static func read(_ bytes: borrowing SecretBytes) throws(CSVError) -> CSVTable {
    guard bytes.count <= sizeLimit else { throw .tooLarge(limit: sizeLimit) }
    var scan = Scan(capacity: bytes.count)
    try unsafe bytes.withBytes { file throws(CSVError) in try unsafe scan.run(file) }
    return try scan.finish()
  }

  private struct Scan: ~Copyable {
    private enum State { case start, plain, quoted, quoteInQuoted }

    private var content: SecretBytes
    private var ends: [Int] = []
    private var header: [String]?
    private var state = State.start
    // The fields of the current row that are complete, where its first field begins, and its number.
    private var fields = 0
    private var row = 1
    private var quoteRow = 1
    // Whether a backslash in quotes protects a quote or a backslash.
    private var hasBackslashes = false

    // The first row of KeePass 1.x, which always stands in quotes.
    private static let keePassHeader = Array(
      #""Account","Login Name","Password","Web Site","Comments""#.utf8)

    init(capacity: Int) { content = SecretBytes(capacity: capacity) }

    mutating func run(_ file: UnsafeRawBufferPointer) throws(CSVError) {
      var index = unsafe file.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
      hasBackslashes = unsafe file[index...].starts(with: Scan.keePassHeader)
      // Stretches of bytes that need no decision are copied in one go.
      var stretch = index
      while index < file.count {
        let byte = unsafe file[index]
        if byte == 0 { throw .notText(row: row) }
        if state == .quoted {
          if byte == UInt8(ascii: "\"") {
            unsafe copy(file[stretch..<index])
            state = .quoteInQuoted
            stretch = index + 1
          } else if hasBackslashes, byte == UInt8(ascii: "\\"), index + 1 < file.count {
            let next = unsafe file[index + 1]
            if next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\") {
              unsafe copy(file[stretch..<index])
              // The byte after the backslash begins the next stretch, and is not looked at.
              stretch = index + 1
              index += 1
            }
          }
          index += 1
          continue
        }
        switch byte {
        case UInt8(ascii: "\""):
          switch state {
          case .start:
            quoteRow = row
            stretch = index + 1
          case .quoteInQuoted:
            // The second of two quotes stands for one, and begins the next stretch.
            stretch = index
          default:
            throw .strayQuote(row: row, column: fields + 1)
          }
          state = .quoted
        case UInt8(ascii: ","):
          if state == .plain { unsafe copy(file[stretch..<index]) }
          try endField()
          stretch = index + 1
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
          let isPair = unsafe byte == UInt8(ascii: "\r") && index + 1 < file.count && file[index + 1] == 10
          if byte == UInt8(ascii: "\r"), !isPair {
            // A CR by itself ends no line; it is content.
            try beginPlain(at: index, &stretch)
            break
          }
          if state == .plain { unsafe copy(file[stretch..<index]) }
          if isPair { index += 1 }
          try endLine()
          stretch = index + 1
        default:
          try beginPlain(at: index, &stretch)
        }
        index += 1
      }
      if state == .plain { unsafe copy(file[stretch...]) }
    }

    // The last line may lack its end.
    mutating func finish() throws(CSVError) -> CSVTable {
      if state == .quoted { throw .unclosedQuote(row: quoteRow) }
      try endLine()
      guard let header else { throw .empty }
      var taken = SecretBytes()
      swap(&taken, &content)
      return CSVTable(header: header, content: taken, ends: ends)
    }

    private mutating func beginPlain(at index: Int, _ stretch: inout Int) throws(CSVError) {
      switch state {
      case .start:
        state = .plain
        stretch = index
      case .quoteInQuoted:
        throw .textAfterQuote(row: row, column: fields + 1)
      case .plain, .quoted:
        break
      }
    }

    private mutating func copy(_ bytes: Slice<UnsafeRawBufferPointer>) {
      unsafe content.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes))
    }

    private mutating func endField() throws(CSVError) {
      fields += 1
      if fields > columnLimit { throw .tooManyColumns(limit: columnLimit) }
      ends.append(content.count)
      state = .start
    }

    private mutating func endLine() throws(CSVError) {
      // Nothing at all between two line ends is no row.
      if fields == 0, state == .start { return }
      try endField()
      if let header {
        guard fields == header.count else {
          throw .wrongColumnCount(row: row, found: fields, expected: header.count)
        }
      } else {
        header = names()
        ends = []
        content.truncate(to: 0)
      }
      fields = 0
      row += 1
    }

    private func names() -> [String] {
      var start = 0
      return ends.map { end in
        defer { start = end }
        return unsafe content.withBytes { unsafe String(decoding: $0[start..<end], as: UTF8.self) }
      }
    }
  }
}
