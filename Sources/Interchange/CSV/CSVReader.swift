package import Secrets

/// A strict reader of RFC 4180 text: ambiguous input is an error that names the row.
///
/// Fields are separated by commas, semicolons or tabs: by the one of them that occurs most often in the first row.
///
/// It is lenient where files of browsers differ: a byte order mark, CR LF and LF line ends, empty lines between rows
/// and a missing line end at the end of the file are accepted. A CR alone ends a row only if no LF does so anywhere in
/// the file. Rows with fewer or more fields than the header are left out of the table, which lists them. Fields keep
/// their exact bytes, which need not be UTF-8. A NUL is refused, because text with NULs is usually UTF-16. KeePass 1.x
/// writes a quote within quotes as `\"` and a backslash as `\\`; only files with the first row of KeePass 1.x are read
/// in this way.
package enum CSVReader {
  /// The size of the largest file that is read: 64 MiB.
  package static let sizeLimit = 64 << 20
  /// The largest number of columns that is read.
  package static let columnLimit = 256

  /// Reads a whole file.
  ///
  /// - Parameter bytes: the content of the file.
  /// - Returns: the header and the rows.
  /// - Throws: `CSVError`, except those that concern the meaning of columns.
  package static func read(_ bytes: borrowing SecretBytes) throws(CSVError) -> CSVTable {
    guard bytes.count <= sizeLimit else { throw .tooLarge(limit: sizeLimit) }
    var scan = Scan(capacity: bytes.count)
    try unsafe bytes.withBytes { file throws(CSVError) in try unsafe scan.run(file) }
    return try scan.finish()
  }

  /// Returns the header of a file without reading its rows.
  ///
  /// - Parameter bytes: the content of the file.
  /// - Throws: `CSVError`, as `read`.
  static func header(of bytes: borrowing SecretBytes) throws(CSVError) -> [String] {
    let row = unsafe bytes.withBytes { file in
      unsafe SecretBytes(copying: UnsafeRawBufferPointer(rebasing: file[..<endOfFirstRow(file)]))
    }
    return try read(row).header
  }

  /// Returns the byte that ends rows: LF, or CR if there is no LF outside of quotes.
  private static func rowEnd(of file: UnsafeRawBufferPointer) -> UInt8 {
    var (isQuoted, hasReturn) = (false, false)
    for index in file.indices {
      let byte = unsafe file[index]
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      if isQuoted { continue }
      if byte == UInt8(ascii: "\n") { return byte }
      if byte == UInt8(ascii: "\r") { hasReturn = true }
    }
    return hasReturn ? UInt8(ascii: "\r") : UInt8(ascii: "\n")
  }

  /// Returns the position after the first row that has a field, and after its line end.
  private static func endOfFirstRow(_ file: UnsafeRawBufferPointer) -> Int {
    let rowEnd = unsafe rowEnd(of: file)
    var (isQuoted, hasText) = (false, false)
    for index in file.indices {
      let byte = unsafe file[index]
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      if byte == rowEnd, !isQuoted, hasText { return index + 1 }
      if byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") { hasText = true }
    }
    return file.count
  }

  /// Returns the separator of a file.
  private static func separator(of file: UnsafeRawBufferPointer) -> UInt8 {
    let comma = UInt8(ascii: ",")
    var counts: [UInt8: Int] = [comma: 0, UInt8(ascii: ";"): 0, UInt8(ascii: "\t"): 0]
    var isQuoted = false
    for index in unsafe 0..<endOfFirstRow(file) {
      let byte = unsafe file[index]
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      if !isQuoted, let count = counts[byte] { counts[byte] = count + 1 }
    }
    let commas = counts[comma] ?? 0
    let other = counts.max { $0.value < $1.value }
    return other.map { $0.value > commas ? $0.key : comma } ?? comma
  }

  private struct Scan: ~Copyable {
    private enum State { case start, plain, quoted, quoteInQuoted }

    private var content: SecretBytes
    private var ends: [Int] = []
    private var header: [String]?
    private var uneven: [(row: Int, fields: Int)] = []
    private var state = State.start
    // The number of complete fields in the current row, and the number of the row.
    private var fields = 0
    private var row = 1
    private var quoteRow = 1
    private var separator = UInt8(ascii: ",")
    private var rowEnd = UInt8(ascii: "\n")
    // True if a backslash in quotes escapes a quote or a backslash.
    private var hasBackslashes = false

    // The first row of KeePass 1.x, which is always quoted.
    private static let keePassHeader = Array(
      #""Account","Login Name","Password","Web Site","Comments""#.utf8)

    init(capacity: Int) { content = SecretBytes(capacity: capacity) }

    mutating func run(_ file: UnsafeRawBufferPointer) throws(CSVError) {
      var index = unsafe file.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
      hasBackslashes = unsafe file[index...].starts(with: Scan.keePassHeader)
      separator = unsafe CSVReader.separator(of: file)
      rowEnd = unsafe CSVReader.rowEnd(of: file)
      // Runs of ordinary bytes are copied together.
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
              // The byte after the backslash begins the next run and is not interpreted.
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
            // The second of two quotes represents one quote, and begins the next run.
            stretch = index
          default:
            throw .strayQuote(row: row, column: fields + 1)
          }
          state = .quoted
        case separator:
          if state == .plain { unsafe copy(file[stretch..<index]) }
          try endField()
          stretch = index + 1
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
          let isPair = unsafe byte == UInt8(ascii: "\r") && index + 1 < file.count && file[index + 1] == 10
          if byte != rowEnd, !isPair {
            // A CR alone is content of a file whose rows end with LF.
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

    // The last line may have no line end.
    mutating func finish() throws(CSVError) -> CSVTable {
      if state == .quoted { throw .unclosedQuote(row: quoteRow) }
      try endLine()
      guard let header else { throw .empty }
      var taken = SecretBytes()
      swap(&taken, &content)
      return CSVTable(header: header, content: taken, ends: ends, uneven: uneven)
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
      // An empty line is not a row.
      if fields == 0, state == .start { return }
      try endField()
      if let header {
        if fields != header.count {
          uneven.append((row, fields))
          ends.removeLast(fields)
          content.truncate(to: ends.last ?? 0)
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
