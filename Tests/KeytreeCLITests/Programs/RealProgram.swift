import Foundation
import Synchronization
import TestSupport

/// Programs of other projects, if they are installed.
enum RealProgram {
  /// The folders in which programs are searched for.
  ///
  /// The scripts in pyenv's folder work only with the home of their owner, so the folders of the real programs are
  /// added.
  static let folders: [String] = {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let known = path.split(separator: ":").map(String.init)
    let python = run(["/usr/bin/env", "python3", "-c", "import sys; print(sys.executable)"], [:])
    let behind = python.map { [URL(fileURLWithPath: $0).deletingLastPathComponent().path] } ?? []
    return behind + known.filter { !$0.hasSuffix("/shims") } + ["/usr/sbin"]
  }()

  /// The variables that programs need in addition to the user's own.
  static let variables: [String: String] = {
    // The Rust toolchain is in the home of the user who runs the tests.
    let own = ProcessInfo.processInfo.environment
    let rust = own["RUSTUP_HOME"] ?? own["HOME"].map { "\($0)/.rustup" }
    return rust.map { ["RUSTUP_HOME": $0] } ?? [:]
  }()

  /// Returns true if all the programs are installed.
  static func has(_ names: String...) -> Bool { names.allSatisfy { path($0) != nil } }

  /// Returns the path of a program.
  static func path(_ name: String) -> String? {
    folders.lazy.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Returns the output of a program without the line feed at its end; nil if it fails.
  static func output(_ words: [String]) -> String? {
    run(["/usr/bin/env"] + words, ["PATH": folders.joined(separator: ":")])
  }

  /// Returns true if the first number with a dot in a program's output is at least the given version.
  static func version(_ words: [String], isAtLeast wanted: (Int, Int)) -> Bool {
    guard let match = output(words)?.firstMatch(of: /(\d+)\.(\d+)/), let major = Int(match.1),
      let minor = Int(match.2)
    else { return false }
    return (major, minor) >= wanted
  }

  /// Returns the first Python that runs a line of code without an error; nil if there is none.
  static func python(_ line: String) -> String? {
    (folders.map { "\($0)/python3" }).first { path in
      FileManager.default.isExecutableFile(atPath: path) && output([path, "-c", line]) != nil
    }
  }

  private static func run(_ words: [String], _ more: [String: String]) -> String? {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: words[0])
    process.arguments = Array(words.dropFirst())
    process.environment = ProcessInfo.processInfo.environment.merging(more) { $1 }
    let target = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = target
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return nil }
    let output = target.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { return nil }
    return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .newlines)
  }
}

/// A home in which keytree is installed under all of its names, where other programs can find it.
struct ProgramsHome {
  /// The names by which other programs call keytree.
  static let names = [
    "keytree", "git-credential-keytree", "docker-credential-keytree", "cargo-credential-keytree", "keyring",
    "keytree-askpass", "security",
  ]
  /// A name that begins with `-` and contains characters that are special in shells, JSON and configuration files.
  static let oddName = "-x y'\"$"

  let program: ProcessesProgram

  /// Creates a home with a store that has a history.
  init() throws {
    program = try ProcessesProgram()
    let files = FileManager.default
    try files.createDirectory(atPath: "\(folder)/bin", withIntermediateDirectories: false)
    for name in Self.names {
      try files.createSymbolicLink(
        atPath: "\(folder)/bin/\(name)", withDestinationPath: ProcessesProgram.path)
    }
    try write(
      "[user]\n\tname = P\n\temail = p@example.org\n[init]\n\tdefaultBranch = main\n", to: ".gitconfig")
    try program.succeed(["init"])
  }

  /// The home.
  var folder: String { program.folder }

  /// Adds an item.
  func add(_ arguments: [String], _ secret: String) throws {
    try program.succeed(["add"] + arguments, input: secret)
  }

  /// Writes a file in the home.
  ///
  /// - Returns: The path of the file.
  @discardableResult
  func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
    let path = "\(folder)/\(name)"
    try FileManager.default.createDirectory(
      atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
    try ExecutableFile.write(text, to: path, mode: mode)
    return path
  }

  /// Installs a shell under another name in the home. Like ssh, it starts keytree-askpass as its child.
  func addShell(named name: String) throws {
    let path = "\(folder)/\(name)"
    guard !FileManager.default.fileExists(atPath: path) else { return }
    let shell = URL(fileURLWithPath: "/bin/sh").resolvingSymlinksInPath().path
    try ExecutableFile.copy(shell, to: path)
  }

  /// Runs a program with keytree on its search path.
  ///
  /// - Parameters:
  ///   - words: The program and its arguments.
  ///   - input: The standard input.
  ///   - variables: Additional variables.
  ///   - onTerminal: True to run the program on a terminal.
  func run(
    _ words: [String], input: String = "", variables: [String: String] = [:], onTerminal: Bool = false
  ) throws -> ProcessesProgram.Outcome {
    let path = (["\(folder)/bin"] + RealProgram.folders).joined(separator: ":")
    let all = RealProgram.variables.merging(["PATH": path]) { $1 }.merging(variables) { $1 }
    // The current folder is the home, because some programs store files in the current folder.
    return try program.run(
      words: ["/usr/bin/env", "-C", folder] + words, input: input, variables: all, onTerminal: onTerminal)
  }

  /// Runs a program that must succeed.
  @discardableResult
  func succeed(
    _ words: [String], input: String = "", variables: [String: String] = [:]
  ) throws -> ProcessesProgram.Outcome {
    let outcome = try run(words, input: input, variables: variables)
    guard outcome.status == 0 else {
      throw ProcessesFailure(
        description: "\(words): exit \(outcome.status): \(outcome.text)\(outcome.errors)")
    }
    return outcome
  }
}
