import Foundation
import Testing

/// Runs every parser with the inputs in `fixtures/fuzz`: the seeds, what the fuzzer derived from them, and its former
/// findings. A Swift trap ends the process, so each target runs in a process of its own.
@Suite struct CorpusTests {
  private static let corpus = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "fixtures/fuzz")

  /// The program that was built together with these tests, next to their bundle.
  static var program: URL {
    // The link always resolves, because it is this process.
    let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(filePath: bundle).deletingLastPathComponent().appending(path: "keytree-fuzz")
  }

  private static func folders() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: corpus.path).filter { !$0.contains(".") }.sorted()
  }

  private static func inputs(of target: String) throws -> [String] {
    let folder = corpus.appending(path: target)
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      .map { folder.appending(path: $0).path }
  }

  private static func run(_ arguments: [String]) throws -> (output: String, status: Int32) {
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    // A backtrace of every crash takes longer than the whole suite.
    process.environment = ["SWIFT_BACKTRACE": "enable=no", "PATH": "/usr/bin:/bin"]
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (String(decoding: output, as: UTF8.self), process.terminationStatus)
  }

  @Test func `every target has inputs, and every folder is that of a target`() throws {
    let list = try Self.run(["--list"])
    #expect(list.status == 0)
    #expect(list.output.split(separator: "\n").map(String.init).sorted() == (try Self.folders()))
  }

  @Test("no input of the corpus crashes a parser or breaks a law", arguments: try folders())
  func replay(_ target: String) throws {
    let inputs = try Self.inputs(of: target)
    #expect(!inputs.isEmpty)
    let (output, status) = try Self.run([target] + inputs)
    // The last line names the input, or is the message of the trap after it.
    #expect(status == 0, "\(output.split(separator: "\n").suffix(3).joined(separator: "\n"))")
  }

  @Test("the corpus of a target is small", arguments: try folders())
  func size(_ target: String) throws {
    let sizes = try Self.inputs(of: target).map { try Data(contentsOf: URL(filePath: $0)).count }
    #expect(sizes.count <= 60)
    #expect(sizes.reduce(0, +) <= 100 << 10)
  }
}
