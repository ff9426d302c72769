package import Secrets

/// The rows of a CSV file, all with the same number of fields, kept in wiped memory.
package struct CSVTable: Sendable {
  /// The text of the first row, the names of the columns; bytes that are not UTF-8 are replaced.
  package let header: [String]
  /// How many rows follow the header.
  package let rowCount: Int

  // The fields of all rows after the header, without quotes, one after the other; and where each ends.
  private let content: SecretSlice
  private let ends: [Int]

  init(header: [String], content: consuming SecretBytes, ends: [Int]) {
    precondition(!header.isEmpty && ends.count.isMultiple(of: header.count), "every row is complete")
    self.header = header
    self.content = SecretSlice(content)
    self.ends = ends
    rowCount = ends.count / header.count
  }

  /// One field.
  ///
  /// - Parameters:
  ///   - row: Which row, the first after the header being 0.
  ///   - column: Which column, from 0.
  /// - Returns: The exact bytes, without the quotes of the file format.
  package func field(row: Int, column: Int) -> SecretSlice {
    precondition(header.indices.contains(column), "a column of the header")
    let index = row * header.count + column
    return content.part((index == 0 ? 0 : ends[index - 1])..<ends[index])
  }

  /// The number of a row as spreadsheets show it, where the header is row 1.
  ///
  /// - Parameter row: Which row, the first after the header being 0.
  /// - Returns: The number.
  package static func number(ofRow row: Int) -> Int { row + 2 }
}

/// Why a CSV file cannot be read. Rows are counted as spreadsheets do: the header is row 1.
package enum CSVError: Error, Equatable {
  /// The file has no header.
  case empty
  /// The file has more bytes than are read.
  case tooLarge(limit: Int)
  /// There are more columns than are read.
  case tooManyColumns(limit: Int)
  /// A row does not have as many fields as the header.
  case wrongColumnCount(row: Int, found: Int, expected: Int)
  /// A quoted field that starts in this row has no end.
  case unclosedQuote(row: Int)
  /// A quote stands inside a field that does not begin with one.
  case strayQuote(row: Int, column: Int)
  /// Something other than a comma or a line end follows the closing quote of a field.
  case textAfterQuote(row: Int, column: Int)
  /// The file holds a NUL: it is not UTF-8 text, most likely UTF-16.
  case notText(row: Int)
  /// Two columns have the same name.
  case duplicateColumn(String)
  /// The mapping names a column that the file does not have.
  case noSuchColumn(String)
  /// No known program writes this set of columns. Their names are not told: in a file without a header they
  /// would be somebody's password.
  case unknownHeader(columns: Int)
}
