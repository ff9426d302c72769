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
      ("too-few-columns", .wrongColumnCount(row: 3, found: 4, expected: 5)),
      ("too-many-columns", .wrongColumnCount(row: 2, found: 6, expected: 5)),
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
