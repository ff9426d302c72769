package import Secrets

/// The rows of a CSV file that have as many fields as the header, kept in wiped memory.
package struct CSVTable: Sendable {
  /// The fields of the first row, which are the names of the columns. Bytes that are not UTF-8 are replaced.
  package let header: [String]
  /// The number of rows after the header.
  package let rowCount: Int
  /// The rows with another number of fields, which are not in the table: the number of the row, as spreadsheets show it,
  /// and of its fields.
  package let uneven: [(row: Int, fields: Int)]

  // The fields of all rows after the header, concatenated without quotes, and the position where each one ends.
  private let content: SecretSlice
  private let ends: [Int]

  // The numbers of the rows; nil if none is missing.
  private let numbers: [Int]?

  init(
    header: [String], content: consuming SecretBytes, ends: [Int],
    uneven: [(row: Int, fields: Int)] = []
  ) {
    precondition(
      !header.isEmpty && ends.count.isMultiple(of: header.count), "every row is complete")
    self.header = header
    self.content = SecretSlice(content)
    self.ends = ends
    rowCount = ends.count / header.count
    self.uneven = uneven
    guard !uneven.isEmpty else {
      numbers = nil
      return
    }
    let missing = Set(uneven.map(\.row))
    numbers = (2..<2 + rowCount + uneven.count).filter { !missing.contains($0) }
  }

  /// Returns one field.
  ///
  /// - Parameters:
  ///   - row: the row; the first one after the header is 0.
  ///   - column: the column, from 0.
  /// - Returns: the exact bytes, without the quotes of the file format.
  package func field(row: Int, column: Int) -> SecretSlice {
    precondition(header.indices.contains(column), "the column exists")
    let index = row * header.count + column
    return content.part((index == 0 ? 0 : ends[index - 1])..<ends[index])
  }

  /// Returns the number of a row as spreadsheets show it. The header is row 1.
  ///
  /// - Parameter row: the row; the first one after the header is 0.
  /// - Returns: the number.
  package func number(ofRow row: Int) -> Int { numbers?[row] ?? row + 2 }

  /// Returns true if a row has content in a column.
  ///
  /// - Parameter column: the column, from 0.
  func hasContent(inColumn column: Int) -> Bool {
    (0..<rowCount).contains { !field(row: $0, column: column).isEmpty }
  }
}

/// The reason why a CSV file cannot be read. Rows are counted as in spreadsheets: the header is row 1.
///
/// No cell of the file is reported, not even one of the first row: in a file without a header it would be a password
/// (threat T57).
package enum CSVError: Error, Equatable {
  /// The file has no header.
  case empty
  /// The file is larger than the limit.
  case tooLarge(limit: Int)
  /// The file has more columns than the limit.
  case tooManyColumns(limit: Int)
  /// A quoted field that starts in this row has no end.
  case unclosedQuote(row: Int)
  /// A quote is inside a field that does not begin with one.
  case strayQuote(row: Int, column: Int)
  /// Something other than a separator or a line end follows the closing quote of a field.
  case textAfterQuote(row: Int, column: Int)
  /// The file contains a NUL: it is not UTF-8 text, most likely UTF-16.
  case notText(row: Int)
  /// The file is not text in the encoding that the user has given.
  case notInEncoding(TextEncoding)
  /// Two columns, counted from 1, have the same name.
  case duplicateColumns(Int, Int)
  /// The name of a column, counted from 1, is longer than the limit, in bytes.
  case columnNameTooLong(column: Int, limit: Int)
  /// The mapping names a column that the file does not have.
  case noSuchColumn(String)
  /// No known program writes this set of columns.
  case unknownHeader(columns: Int)
}
