import Foundation
import TestSupport
import Testing

/// Tests that the work of each importer and exporter grows linearly with its source.
///
/// Cachegrind counts the machine instructions of `keytree-fuzz`, which reads a file, compares the items with each other
/// and, for `export`, writes them in all formats. The counts include the libraries and hardly depend on the machine.
@Suite(.enabled(if: Cachegrind.isAvailable, "valgrind or strip is not installed"), .slow)
struct ImportBoundTests {
  /// A file with a number of equal parts, and the target of `keytree-fuzz` that reads it.
  struct Source: CustomTestStringConvertible, Sendable {
    let target: String
    /// The parts.
    let parts: String
    /// The smallest number of parts.
    var count = 70
    let file: @Sendable (Int) -> [UInt8]

    var testDescription: String { "\(target): \(parts)" }

    init(_ target: String, _ parts: String, count: Int = 70, file: @escaping @Sendable (Int) -> [UInt8]) {
      (self.target, self.parts, self.count, self.file) = (target, parts, count, file)
    }

    /// Creates a text with a beginning, numbered parts and an end.
    init(
      _ target: String, _ parts: String, count: Int = 70, _ start: String, joinedBy separator: String = "",
      _ end: String, part: @escaping @Sendable (Int) -> String
    ) {
      self.init(target, parts, count: count) { number in
        Array((start + (0..<number).map(part).joined(separator: separator) + end).utf8)
      }
    }
  }

  static let sources = [
    Source(
      "import-bitwarden", "fields of one name", count: 100,
      #"{"items":[{"type":1,"name":"n","login":{"username":"u","password":"p"},"fields":["#, joinedBy: ",",
      "]}]}"
    ) { #"{"name":"f","type":1,"value":"v\#($0)"}"# },
    Source(
      "import-bitwarden", "addresses", #"{"items":[{"type":1,"name":"n","login":{"password":"p","uris":["#,
      joinedBy: ",", "]}}]}"
    ) { #"{"match":\#($0 + 1),"uri":"https://h\#($0).example/"}"# },
    Source(
      "import-csv", "custom fields",
      "folder,type,name,notes,fields,login_uri,login_username,login_password\n,login,n,,\"", joinedBy: "\n",
      "\",https://a.example/,u,p\n"
    ) { "f\($0): v" },
    Source("import-csv", "rows of one login", count: 60, "name,url,username,password\n", "") {
      "n,https://a.example/,u,p\($0)\n"
    },
    Source(
      "import-enpass", "fields", #"{"items":[{"category":"login","uuid":"u","title":"n","fields":["#,
      joinedBy: ",", "]}]}"
    ) { #"{"label":"f\#($0)","type":"text","sensitive":1,"value":"v"}"# },
    Source(
      "import-keytree", "fields of a login",
      #"{"format":"keytree","version":1,"items":[{"class":"generic-password","secret":"p","attributes":{"service":"s"}},"#,
      joinedBy: ",", "]}"
    ) { #"{"class":"generic-password","secret":"v","attributes":{"service":"s","field":"f\#($0)"}}"# },
    Source(
      "import-keytree", "attributes",
      #"{"format":"keytree","version":1,"items":[{"class":"generic-password","secret":"p","attributes":{"#,
      joinedBy: ",", "}}]}"
    ) { #""x\#($0 * 7919 % 100_003)":"v""# },
    Source(
      "import-keepass", "strings", "<KeePassFile><Root><Group><Entry>",
      "</Entry></Group></Root></KeePassFile>"
    ) { "<String><Key>f\($0)</Key><Value>v</Value></String>" },
    Source("import-keepass", "files of older versions", count: 180) { number in
      let files = (0..<number).map { "<Binary><Key>f</Key><Value>AA\($0 + 1000)</Value></Binary>" }.joined()
      return Array(
        ("<KeePassFile><Root><Group><Entry>\(files)<History><Entry>\(files)</Entry></History></Entry></Group>"
          + "</Root></KeePassFile>").utf8)
    },
    Source("import-netrc", "passwords of one machine", count: 100, "machine a.example login u", "\n") {
      " password p\($0)"
    },
    Source(
      "import-keychain-dump", "attributes", count: 180,
      "keychain: \"k\"\nclass: \"genp\"\nattributes:\n", "data:\n\"p\"\n"
    ) { "    \"x\($0 * 7919 % 100_003)\"<blob>=\"v\"\n" },
    Source("import-1password", "files", count: 150) { number in
      let fields = (0..<number).map {
        #"{"title":"f","id":"\#($0)","value":{"file":{"fileName":"f","documentId":"id\#($0)"}}}"#
      }
      let json =
        #"{"accounts":[{"vaults":[{"items":[{"uuid":"x","details":{"sections":[{"fields":["#
        + fields.joined(separator: ",") + "]}]}}]}]}]}"
      let files = (0..<number).map { ("files/id\($0)__f", "v") }
      return Self.archive([("export.attributes", "{}"), ("export.data", json)] + files)
    },
    Source("pass-entry", "one-time-password seeds", count: 100, "a.example/u\np\n", "") {
      "otpauth://totp/?secret=AAAA\($0)\n"
    },
    Source(
      "export", "fields and folders", count: 40,
      #"{"format":"keytree","version":1,"items":[{"class":"generic-password","secret":"p","attributes":{"service":"s"}}"#,
      "]}"
    ) {
      #",{"class":"generic-password","secret":"v\#($0)","attributes":{"service":"s","field":"f\#($0)"}}"#
        + #",{"class":"generic-password","secret":"v\#($0)","attributes":{"service":"t\#($0)","folder":"\#($0)","pass":"x"}}"#
    },
  ]

  @Test("twice the parts need twice the work", arguments: sources)
  func isLinear(_ source: Source) throws {
    let counter = try Cachegrind()
    let counts = try [1, 2, 4].map { factor in
      try counter.instructions(of: source.target, reading: source.file(factor * source.count))
    }
    // The start of the program is in all counts. Quadratic work would make the ratio 4.
    let ratio = Double(counts[2] - counts[1]) / Double(counts[1] - counts[0])
    print("\(source.testDescription): \(counts), ratio \(ratio)")
    #expect(ratio < 2.6, "\(counts)")
  }

  /// Returns a ZIP archive with stored members (APPNOTE.TXT, 4.3).
  private static func archive(_ members: [(name: String, content: String)]) -> [UInt8] {
    func number(_ value: Int, _ size: Int) -> [UInt8] {
      (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    var archive: [UInt8] = []
    var directory: [UInt8] = []
    for (name, content) in members {
      let (name, content) = (Array(name.utf8), Array(content.utf8))
      let facts =
        number(0, 8) + number(Int(checksum(of: content)), 4) + number(content.count, 4)
        + number(content.count, 4) + number(name.count, 2) + number(0, 2)
      directory += number(0x0201_4B50, 4) + number(20, 2) + number(20, 2) + facts
      directory += number(0, 10) + number(archive.count, 4) + name
      archive += number(0x0403_4B50, 4) + number(20, 2) + facts + name + content
    }
    let end =
      number(0x0605_4B50, 4) + number(0, 4) + number(members.count, 2) + number(members.count, 2)
      + number(directory.count, 4) + number(archive.count, 4) + number(0, 2)
    return archive + directory + end
  }

  private static func checksum(of bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~0) { checksum, byte in
      (0..<8).reduce(checksum ^ UInt32(byte)) { value, _ in value >> 1 ^ (value & 1 == 0 ? 0 : 0xEDB8_8320) }
    }
  }
}

/// Counts the machine instructions of `keytree-fuzz` with cachegrind, a tool of valgrind.
struct Cachegrind {
  private static let valgrind = "/usr/bin/valgrind"
  private static let strip = "/usr/bin/strip"

  /// True if the programs are installed.
  static var isAvailable: Bool {
    [valgrind, strip].allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
  }

  private let folder = ScratchFolder()
  private var program: String { "\(folder.path)/keytree-fuzz" }

  init() throws {
    // valgrind stops at the debugging information of Swift.
    _ = try Self.run(Self.strip, ["-g", "-o", program, CorpusTests.program.path])
  }

  /// Returns the number of instructions that a target executes for a file.
  func instructions(of target: String, reading file: [UInt8]) throws -> Int {
    let path = "\(folder.path)/input"
    try Data(file).write(to: URL(filePath: path))
    let output = try Self.run(
      Self.valgrind,
      ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", program, target, path])
    let line = try #require(output.split(separator: "\n").last { $0.contains("I   refs:") }, "\(output)")
    // `==123== I   refs:      1,085,364,964`
    let digits = line.split(separator: ":").last.map { $0.filter(\.isNumber) } ?? ""
    return try #require(Int(digits))
  }

  private static func run(_ program: String, _ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.environment = [
      "SWIFT_BACKTRACE": "enable=no", "SWIFT_DETERMINISTIC_HASHING": "1", "PATH": "/usr/bin:/bin",
    ]
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(program): \(output)")
    return output
  }
}
