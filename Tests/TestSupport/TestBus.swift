import Foundation
import Glibc

/// A `dbus-daemon` of its own for one test. It is stopped when the test is over.
package final class TestBus: Sendable {
  /// The path of the program, if it is installed.
  package static let program: String? = ["/usr/bin/dbus-daemon", "/usr/local/bin/dbus-daemon"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }
  /// The reason why tests with a bus are skipped.
  package static let reason = "dbus-daemon is not installed (Debian package dbus)"

  /// The folder of the bus, which the test may use, too.
  package let folder: String
  /// The address of the bus.
  package var address: String { "unix:path=\(folder)/bus" }
  private let daemon: Process

  /// Starts a bus on which no service can be activated.
  package convenience init() throws {
    let folder = try Self.makeFolder()
    // The rules and limits of the configuration of session buses in dbus 1.14.
    let configuration = """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
       "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig>
        <type>session</type><keep_umask/><listen>unix:path=\(folder)/bus</listen><auth>EXTERNAL</auth>
        <policy context="default">
          <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
        </policy>
        <limit name="max_incoming_bytes">1000000000</limit>
        <limit name="max_outgoing_bytes">1000000000</limit>
        <limit name="max_message_size">1000000000</limit>
        <limit name="max_completed_connections">100000</limit>
        <limit name="max_connections_per_user">100000</limit>
        <limit name="max_match_rules_per_connection">50000</limit>
        <limit name="max_replies_per_connection">50000</limit>
      </busconfig>
      """
    try Data(configuration.utf8).write(to: URL(fileURLWithPath: folder + "/bus.conf"))
    try self.init(folder, ["--config-file=\(folder)/bus.conf"], variables: [:])
  }

  /// Starts a bus with this machine's configuration of session buses, which activates services.
  ///
  /// - Parameter variables: The variables of the bus and the services, besides `PATH`.
  package convenience init(standardFoldersWith variables: [String: String]) throws {
    let folder = try Self.makeFolder()
    try self.init(folder, ["--session", "--address=unix:path=\(folder)/bus"], variables: variables)
  }

  private static func makeFolder() throws -> String {
    var template = Array("/tmp/ktbusXXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw TestBusFailure(text: "cannot create a folder") }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private init(_ folder: String, _ arguments: [String], variables: [String: String]) throws {
    guard let program = Self.program else { throw TestBusFailure(text: "no dbus-daemon") }
    self.folder = folder
    daemon = Process()
    daemon.executableURL = URL(fileURLWithPath: program)
    daemon.arguments = arguments + ["--nofork", "--nopidfile", "--print-address=1"]
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    daemon.environment = variables.merging(["PATH": path]) { $1 }
    let output = Pipe()
    daemon.standardOutput = output
    daemon.standardError = FileHandle.nullDevice
    try daemon.run()
    // The daemon prints its address when it listens.
    guard !output.fileHandleForReading.availableData.isEmpty else {
      throw TestBusFailure(text: "dbus-daemon ended")
    }
  }

  /// Stops the daemon for a while: it accepts connections, and answers nothing.
  package func pause() { kill(daemon.processIdentifier, SIGSTOP) }

  /// Lets the daemon go on.
  package func resume() { kill(daemon.processIdentifier, SIGCONT) }

  /// Stops the daemon and removes its folder.
  package func close() {
    guard daemon.isRunning else { return }
    // Not SIGTERM: threads of tests have blocked signals, and the daemon inherits them.
    kill(daemon.processIdentifier, SIGKILL)
    daemon.waitUntilExit()
    // It is in /tmp.
    try? FileManager.default.removeItem(atPath: folder)
  }

  deinit { close() }
}

/// An error of a bus for tests.
package struct TestBusFailure: Error, CustomStringConvertible {
  let text: String
  /// The message.
  package var description: String { text }
}
