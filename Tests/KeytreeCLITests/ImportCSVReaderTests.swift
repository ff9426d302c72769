import Secrets
import Testing

@testable import Interchange
@testable import KeytreeCLI

@Suite("Reading CSV", .serialized)
struct ImportCSVReaderTests {
  struct Readable: Sendable, CustomTestStringConvertible {
    var text: String
    var header: [String]
    var rows: [[String]]
    var testDescription: String { text.debugDescription }
  }

  @Test(
    "fields are read exactly",
    arguments: [
      Readable(text: "a,b\n1,2\n", header: ["a", "b"], rows: [["1", "2"]]),
      Readable(text: "a,b\r\n1,2", header: ["a", "b"], rows: [["1", "2"]]),
      Readable(text: "\u{FEFF}a\n1\n", header: ["a"], rows: [["1"]]),
      Readable(text: "a,b\n,\n", header: ["a", "b"], rows: [["", ""]]),
      Readable(text: "a,b\n1,", header: ["a", "b"], rows: [["1", ""]]),
      Readable(text: "a\n\"\"\n", header: ["a"], rows: [[""]]),
      Readable(text: "a\n\n\r\n1\n\n", header: ["a"], rows: [["1"]]),
      Readable(text: "a,b\n\"x,y\",\"p\"\"q\"\n", header: ["a", "b"], rows: [["x,y", "p\"q"]]),
      Readable(text: "a\n\"\"\"\"\"\"\n", header: ["a"], rows: [["\"\""]]),
      Readable(text: "a\n\"1\n2\r\n3\"\n", header: ["a"], rows: [["1\n2\r\n3"]]),
      Readable(text: "a,b\n 1 , 2 \n", header: ["a", "b"], rows: [[" 1 ", " 2 "]]),
      Readable(text: "a,b\nx\ry,\r\r\n", header: ["a", "b"], rows: [["x\ry", "\r"]]),
      Readable(
        text: "a,b\r1,2\r\r\"x\ry\",\"\nz\"\r", header: ["a", "b"],
        rows: [["1", "2"], ["x\ry", "\nz"]]),
      Readable(text: "\"a\rb\";c\r1;2", header: ["a\rb", "c"], rows: [["1", "2"]]),
      Readable(
        text: "a,b\n1\n2,3\n4,5,6\n,\n", header: ["a", "b"], rows: [["2", "3"], ["", ""]]),
      Readable(text: "\"a\",\"b\"\n\"1\",2\n", header: ["a", "b"], rows: [["1", "2"]]),
      Readable(text: "a\n", header: ["a"], rows: []),
    ])
  func reads(_ example: Readable) throws {
    let table = try CSVReader.read(SecretBytes(copying: Array(example.text.utf8)))
    #expect(table.header == example.header)
    let rows = (0..<table.rowCount).map { row in
      table.header.indices.map { table.field(row: row, column: $0).text }
    }
    #expect(rows == example.rows)
  }

  @Test("bytes that are not UTF-8 are kept unchanged")
  func otherEncodings() throws {
    let table = try CSVReader.read(SecretBytes(copying: Array("a\n".utf8) + [0xFF, 0xE9, 0x0A]))
    #expect(table.field(row: 0, column: 0).publicBytes() == [0xFF, 0xE9])
  }

  @Test(
    "a broken file is refused, and the error names the row",
    arguments: [
      ("empty", CSVError.empty),
      ("only-bom", .empty),
      ("unclosed-quote", .unclosedQuote(row: 3)),
      ("stray-quote", .strayQuote(row: 3, column: 4)),
      ("text-after-quote", .textAfterQuote(row: 2, column: 4)),
      ("unknown-header", .unknownHeader(columns: 3)),
      ("no-header", .unknownHeader(columns: 5)),
      ("duplicate-column", .duplicateColumns(4, 5)),
      ("nul", .notText(row: 2)),
      ("utf-16", .notText(row: 1)),
    ])
  func refuses(_ name: String, _ error: CSVError) throws {
    let bytes = try ImportFixtures.csv("broken/\(name).csv")
    let thrown = refusal(of: bytes)
    #expect(thrown == error)
  }

  @Test(
    "a row with another number of fields than the header is left out, and the others keep their numbers",
    arguments: [
      ("too-few-columns", 3, 4), ("too-many-columns", 2, 6),
    ])
  func uneven(name: String, row: Int, fields: Int) throws {
    let table = try CSVReader.read(ImportFixtures.csv("broken/\(name).csv"))
    #expect(table.uneven.map(\.row) == [row] && table.uneven.map(\.fields) == [fields])
    let (draft, _, count) = try CSVImport.plan(ImportFixtures.csv("broken/\(name).csv"))
    #expect(draft.findings.map(\.outcome) == [.lost(.wrongFieldCount(fields, expected: 5))])
    let numbers = (0..<table.rowCount).map { table.number(ofRow: $0) }
    #expect(numbers == (2..<2 + count).filter { $0 != row })
  }

  @Test("a file with more columns or bytes than the limits is refused")
  func limits() {
    let columns = Array(String(repeating: ",", count: CSVReader.columnLimit).utf8)
    #expect(refusal(of: SecretBytes(copying: columns)) == .tooManyColumns(limit: CSVReader.columnLimit))
    // The bytes are appended in large chunks, because appending them one by one takes seconds.
    let chunk = [UInt8](repeating: 0x61, count: 1 << 20)
    var bytes = SecretBytes(capacity: CSVReader.sizeLimit + 1)
    for _ in 0..<CSVReader.sizeLimit >> 20 {
      unsafe chunk.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    }
    bytes.append(0x61)
    #expect(refusal(of: bytes) == .tooLarge(limit: CSVReader.sizeLimit))
  }

  // `#expect(throws:)` cannot capture a noncopyable value.
  private func refusal(of bytes: borrowing SecretBytes) -> CSVError? {
    do throws(CSVError) {
      _ = try CSVImport.plan(bytes)
      return nil
    } catch {
      return error
    }
  }
}
