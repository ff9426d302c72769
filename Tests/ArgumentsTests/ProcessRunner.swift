import Foundation

/// Runs installed programs on the output of this module.
enum ProcessRunner {
  /// Returns the path of a program, or nil if it is not installed.
  static func locate(_ program: String) -> String? {
    ["/usr/bin/", "/bin/", "/usr/local/bin/"].map { $0 + program }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Returns true if a program is installed.
  static func isInstalled(_ program: String) -> Bool { locate(program) != nil }

  /// Runs a program and returns its output and exit status.
  static func run(
    _ path: String, _ arguments: [String], input: String = "", withErrors: Bool = true
  ) throws -> (String, Int32) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    let output = Pipe()
    let feed = Pipe()
    process.standardOutput = output
    process.standardError = withErrors ? output : FileHandle.nullDevice
    process.standardInput = feed
    try process.run()
    try feed.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try feed.fileHandleForWriting.close()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (String(decoding: data, as: UTF8.self), process.terminationStatus)
  }

  /// Calls a body with the path of a file that contains a text. The file is in a new folder, which is removed
  /// afterwards.
  static func withFile<R>(_ text: String, named name: String, _ body: (String) throws -> R) throws -> R {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // A folder that cannot be removed must not fail the test.
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent(name)
    try Data(text.utf8).write(to: file)
    return try body(file.path)
  }
}
