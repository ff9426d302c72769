import Foundation
import Glibc
import SessionBus
import TestSupport
import Testing

@testable import KeytreeCLI

/// `keytree secret-service` on the command line.
@Suite(.enabled(if: TestBus.program != nil, Comment(rawValue: TestBus.reason)), .serialized)
struct DesktopCommandTests {
  @Test("a taken name is an error with its owner, and --replace takes it")
  func takenName() throws {
    let session = try DesktopSession()
    try session.start()
    let refused = try session.program.run(["secret-service"], variables: session.variables)
    #expect(refused.status == 1)
    let lines = refused.errors.split(separator: "\n")
    try #require(lines.count == 5)
    #expect(lines[0] == "keytree: another program already serves org.freedesktop.secrets")
    #expect(lines[1].hasPrefix("process: "))
    #expect(lines[2] == "program: \(ProcessesProgram.path)")
    #expect(lines[3].hasPrefix("unit:    "))
    #expect(lines[4].contains("--replace"))
    let next = try DesktopSession(bus: session.bus)
    try next.start(["--replace"])
    #expect(session.waitForEnd() == 0)
    #expect(session.log == "keytree: another program has taken the name org.freedesktop.secrets\n")
    #expect(next.stop(with: SIGINT) == 0)
  }

  @Test("another name can be used for tests")
  func otherName() throws {
    let session = try DesktopSession()
    try session.start()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: ProcessesProgram.path)
    process.arguments = ["secret-service", "--bus-name", "org.example.Test", "--print-name"]
    process.environment = session.program.variables.merging(session.variables) { $1 }
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    #expect(
      String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) == "org.example.Test\n")
    let client = try session.connect()
    #expect(try client.owner(of: "org.example.Test") != nil)
    Glibc.kill(process.processIdentifier, SIGTERM)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  @Test("without a bus or a store the command fails with exit code 3 and says why")
  func missing() throws {
    let session = try DesktopSession()
    let noAddress = try session.program.run(
      words: ["/usr/bin/env", "-u", "XDG_RUNTIME_DIR", ProcessesProgram.path, "secret-service"])
    #expect(noAddress.status == 3)
    #expect(noAddress.errors.contains("DBUS_SESSION_BUS_ADDRESS"))
    let noBus = try session.program.run(
      ["secret-service"], variables: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"])
    #expect(noBus.status == 1)
    #expect(noBus.errors.contains("/nonexistent"))
    let noStore = try session.program.run(
      ["secret-service"], variables: session.variables.merging(["KEYTREE_STORE": "/nonexistent/store"]) { $1 }
    )
    #expect(noStore.status == 3)
    #expect(noStore.errors.contains("/nonexistent/store"))
  }

  @Test("the program is not linked with libsystemd")
  func linking() throws {
    let session = try DesktopSession()
    let libraries = try session.program.run(
      words: ["/usr/bin/env", "LD_TRACE_LOADED_OBJECTS=1", ProcessesProgram.path]
    ).text
    #expect(libraries.contains("libgpgme"))
    #expect(!libraries.contains("libsystemd") && !libraries.contains("liblzma"))
  }

  // MARK: Installation

  @Test(
    "--install lets a bus with the usual configuration start the service, and --uninstall removes the files")
  func installation() throws {
    let program = try ProcessesProgram()
    try program.succeed(["init"])
    let (data, configuration) = (program.folder + "/data", program.folder + "/.config")
    let paths = [
      configuration + "/systemd/user/keytree-secret-service.service",
      data + "/dbus-1/services/org.freedesktop.secrets.service",
    ]
    let installed = try program.run(["secret-service", "--install"])
    #expect(installed.status == 0, "\(installed.errors)")
    #expect(installed.text == paths.map { $0 + "\n" }.joined())
    #expect(installed.errors.contains("default-cache-ttl 28800"))
    // The bus has the folders of a session bus. Its own variables do not name the store.
    let bus = try TestBus(standardFoldersWith: [
      "XDG_DATA_HOME": data, "HOME": program.folder, "XDG_RUNTIME_DIR": program.folder + "/run",
      "XDG_STATE_HOME": program.folder + "/state",
    ])
    let session = try DesktopSession(bus: bus)
    let client = try session.connect()
    let alias = try client.call(
      "ReadAlias", of: "org.freedesktop.Secret.Service", at: "/org/freedesktop/secrets",
      in: DesktopSession.name,
      [.string("default")])
    #expect(alias == [.objectPath("/org/freedesktop/secrets/collection/default")])
    let owner = try client.client(DesktopSession.name)
    #expect(owner.executable == ProcessesProgram.path)
    let doctor = try program.run(["doctor"], variables: session.variables)
    #expect(doctor.text.contains("serves the keyring of the desktop"))
    #expect(doctor.text.contains("the bus starts Keytree"))
    #expect(doctor.text.contains("no-allow-external-cache"))
    if let process = owner.process { Glibc.kill(pid_t(process), SIGTERM) }
    let removed = try program.run(["secret-service", "--uninstall"])
    #expect(removed.text == paths.reversed().map { $0 + "\n" }.joined())
    #expect(try program.run(["secret-service", "--uninstall"]).text == "")
  }

  @Test("doctor recognizes a service whose program was replaced by an upgrade")
  func upgrade() throws {
    let session = try DesktopSession(bus: try TestBus())
    let path = session.program.folder + "/keytree"
    try ExecutableFile.copy(ProcessesProgram.path, to: path)
    try session.start(from: path)
    func report() throws -> String {
      try session.program.run(["doctor"], variables: session.variables).text
    }
    let before = try report()
    #expect(before.contains("\(path) (process ") && !before.contains("was replaced"))
    try ExecutableFile.copy(path, to: path + ".new")
    try #require(unsafe rename(path + ".new", path) == 0)
    let after = try report()
    #expect(after.contains("\(path) (process ") && after.contains("the program was replaced since"))
    #expect(after.contains("systemctl --user restart keytree-secret-service.service"))
  }

  @Test("a file that Keytree has not written is neither replaced nor removed")
  func foreignFile() throws {
    let program = try ProcessesProgram()
    let folder = program.folder + "/data/dbus-1/services"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let path = folder + "/org.freedesktop.secrets.service"
    try Data("[D-BUS Service]\nName=org.freedesktop.secrets\n".utf8).write(to: URL(fileURLWithPath: path))
    let outcome = try program.run(["secret-service", "--install"])
    #expect(outcome.status == 5)
    #expect(outcome.errors.contains(path))
    #expect(try program.run(["secret-service", "--uninstall"]).text == "")
    #expect(FileManager.default.fileExists(atPath: path))
  }

  @Test("paths and variables are quoted in the files")
  func quoting() {
    let variables = [(name: "KEYTREE_STORE", value: "/home/o'neil/50 % \"keys\"\\$x")]
    let activation = DesktopInstallation.activation("/opt/key tree", variables)
    #expect(
      activation.contains(
        #"Exec=/usr/bin/env 'KEYTREE_STORE=/home/o'\\''neil/50 % "keys"\\$x' '/opt/key tree' secret-service"#)
    )
    let unit = DesktopInstallation.unit("/opt/key$ %tree", variables)
    #expect(unit.contains(#"ExecStart="/opt/key$$ %%tree" secret-service"#))
    #expect(unit.contains(#"Environment="KEYTREE_STORE=/home/o'neil/50 %% \"keys\"\\$x""#))
    #expect(
      DesktopInstallation.activation("/usr/bin/keytree", []).contains(
        "\nExec=/usr/bin/keytree secret-service\n"))
  }

  @Test("install and uninstall exclude each other")
  func misuse() throws {
    let program = try ProcessesProgram()
    #expect(try program.run(["secret-service", "--install", "--uninstall"]).status == 2)
  }
}
