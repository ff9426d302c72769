import Foundation
import Glibc
import SessionBus
import TestSupport

/// A user with a store and a bus, on which the built command serves the keyring.
final class DesktopSession {
  static let name = "org.freedesktop.secrets"

  let program: ProcessesProgram
  let bus: TestBus
  private var service: Process?

  /// Creates a store and a bus.
  ///
  /// - Parameters:
  ///   - key: The user's key.
  ///   - bus: The bus; nil to start one.
  init(_ key: GnuPGKey = .alice, bus: TestBus? = nil) throws {
    program = try ProcessesProgram(key)
    self.bus = try bus ?? TestBus()
    if key == .alice { try program.succeed(["init"]) }
  }

  deinit {
    stop()
    bus.close()
  }

  /// The variables of a program in this session.
  var variables: [String: String] { ["DBUS_SESSION_BUS_ADDRESS": bus.address] }

  /// Starts the service, and returns when it owns its name.
  ///
  /// - Parameters:
  ///   - options: More options.
  ///   - path: The path of the command.
  func start(_ options: [String] = [], from path: String = ProcessesProgram.path) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = ["secret-service", "--print-name"] + options
    process.environment = program.variables.merging(variables) { $1 }
    let output = Pipe()
    process.standardOutput = output
    try Data().write(to: URL(fileURLWithPath: logPath))
    process.standardError = FileHandle(forWritingAtPath: logPath)
    try process.run()
    service = process
    let name = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard name == Self.name + "\n" else { throw ProcessesFailure(description: "no name: \(log)") }
  }

  private var logPath: String { program.folder + "/service.log" }

  /// The diagnostics of the service.
  var log: String { String(decoding: FileManager.default.contents(atPath: logPath) ?? Data(), as: UTF8.self) }

  /// Stops the service.
  ///
  /// - Parameter signal: The signal to stop it with.
  /// - Returns: Its exit status, or the negative number of the signal.
  @discardableResult
  func stop(with signal: Int32 = SIGTERM) -> Int32? {
    guard let service, service.isRunning else { return nil }
    kill(service.processIdentifier, signal)
    return waitForEnd()
  }

  /// The process of the service; 0 if it was not started.
  var identifier: pid_t { service?.processIdentifier ?? 0 }

  /// Waits until the service ends.
  func waitForEnd() -> Int32? {
    guard let service else { return nil }
    service.waitUntilExit()
    return service.terminationReason == .exit ? service.terminationStatus : -service.terminationStatus
  }

  /// Runs a program of the desktop.
  func run(_ words: [String], input: String = "") throws -> ProcessesProgram.Outcome {
    try program.run(words: words, input: input, variables: variables)
  }

  /// Connects a client.
  func connect() throws -> BusConnection { try BusConnection(address: bus.address) }
}

/// The programs of the desktop with which the service is tested.
enum DesktopClient {
  /// The path of `secret-tool`, if it is installed.
  static let secretTool: String? = path("secret-tool")
  static let secretToolReason = "secret-tool is not installed (Debian package libsecret-tools)"
  /// The path of Python, if it is installed with the module `secretstorage`.
  static let python: String? = {
    guard let python = path("python3"), (try? GnuPGTool.run(python, ["-c", "import secretstorage"])) != nil
    else {
      return nil
    }
    return python
  }()
  static let pythonReason =
    "the Python module secretstorage is not installed (Debian package python3-secretstorage)"

  private static func path(_ name: String) -> String? {
    ["/usr/bin/", "/usr/local/bin/"].map { $0 + name }.first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
  }
}
