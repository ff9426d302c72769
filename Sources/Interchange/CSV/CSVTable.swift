package import Secrets

/// The rows of a CSV file, all with the same number of fields, kept in wiped memory.
package struct CSVTable: Sendable {
  /// The fields of the first row, which are the names of the columns. Bytes that are not UTF-8 are replaced.
  package let header: [String]
  /// The number of rows after the header.
  package let rowCount: Int

  // The fields of all rows after the header, concatenated without quotes, and the position where each one ends.
  private let content: SecretSlice
  private let ends: [Int]

  init(header: [String], content: consuming SecretBytes, ends: [Int]) {
    precondition(!header.isEmpty && ends.count.isMultiple(of: header.count), "every row is complete")
    self.header = header
    self.content = SecretSlice(content)
    self.ends = ends
    rowCount = ends.count / header.count
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
  package static func number(ofRow row: Int) -> Int { row + 2 }
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
  /// The number of fields in a row differs from the header.
  case wrongColumnCount(row: Int, found: Int, expected: Int)
  /// A quoted field that starts in this row has no end.
  case unclosedQuote(row: Int)
  /// A quote is inside a field that does not begin with one.
  case strayQuote(row: Int, column: Int)
  /// Something other than a separator or a line end follows the closing quote of a field.
  case textAfterQuote(row: Int, column: Int)
  /// The file contains a NUL: it is not UTF-8 text, most likely UTF-16.
  case notText(row: Int)
  /// Two columns, counted from 1, have the same name.
  case duplicateColumns(Int, Int)
  /// The name of a column, counted from 1, is longer than the limit, in bytes.
  case columnNameTooLong(column: Int, limit: Int)
  /// The mapping names a column that the file does not have.
  case noSuchColumn(String)
  /// No known program writes this set of columns.
  case unknownHeader(columns: Int)
}
