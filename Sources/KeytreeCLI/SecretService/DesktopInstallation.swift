internal import Arguments
internal import CommandSupport
internal import Encoding
internal import Glibc
internal import Sync
internal import Terminal

/// The files with which the bus and systemd start `keytree secret-service` when a program asks for the keyring.
struct DesktopInstallation {
  /// The unit of systemd.
  static let unitName = "keytree-secret-service.service"
  /// The first line of the files, by which `--uninstall` recognizes them.
  static let mark = "# Written by `keytree secret-service --install`."

  /// The activation file of the bus (D-Bus specification, "Message Bus Starting Services").
  let activationPath: String
  /// The unit file of systemd (systemd.unit(5)).
  let unitPath: String

  /// Finds the places of the files.
  ///
  /// - Throws: `other` if no variable names them.
  init(_ environment: Environment) throws {
    guard let data = environment.dataHome, let configuration = environment.configurationHome else {
      throw CommandError.other(
        .failure, message: "cannot find the folder for the files: `HOME` is not set to an absolute path",
        hint: "set `HOME`, or `XDG_DATA_HOME` and `XDG_CONFIG_HOME`")
    }
    activationPath = "\(data)/dbus-1/services/\(SecretServiceCommand.defaultName).service"
    unitPath = "\(configuration)/systemd/user/\(Self.unitName)"
  }

  /// The files, in the order in which they are written.
  var paths: [String] { [unitPath, activationPath] }

  /// True if the bus starts Keytree.
  var isInstalled: Bool { Self.isOurs(activationPath) }

  /// Writes the files.
  ///
  /// - Parameters:
  ///   - program: The path of `keytree`.
  ///   - variables: The variables that the service needs. A service does not see the variables of a shell.
  /// - Throws: `other` if a file exists that Keytree has not written; `UserFileError`.
  func install(program: String, variables: [(name: String, value: String)]) throws {
    for path in paths where Self.exists(path) && !Self.isOurs(path) {
      throw CommandError.other(
        .alreadyExists, message: "cannot write \(path): the file exists, and Keytree has not written it",
        hint: "another program may use it; remove it if you do not need it")
    }
    try UserFile.replaceOwn(unitPath, Array(Self.unit(program, variables).utf8))
    try UserFile.replaceOwn(activationPath, Array(Self.activation(program, variables).utf8))
  }

  /// Removes the files that Keytree has written.
  ///
  /// - Returns: The paths of the removed files.
  /// - Throws: `other` if a file cannot be removed.
  func uninstall() throws -> [String] {
    // The activation file goes first: without its unit, the bus could not start the service.
    let ours = paths.reversed().filter(Self.isOurs)
    for path in ours where unsafe unlink(path) != 0 {
      let problem = errno
      throw CommandError.other(
        .failure, message: "cannot remove \(path): \(ErrorReport.systemMessage(problem))",
        hint: ErrorReport.hint(problem))
    }
    return ours
  }

  private static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  private static func isOurs(_ path: String) -> Bool {
    UserFile.text(path)?.hasPrefix(mark + "\n") ?? false
  }

  // MARK: Content

  /// Returns the activation file.
  static func activation(_ program: String, _ variables: [(name: String, value: String)]) -> String {
    // `env` sets the variables if the bus starts the program itself, without systemd.
    let words =
      variables.isEmpty
      ? [program] : ["/usr/bin/env"] + variables.map { "\($0.name)=\($0.value)" } + [program]
    // The bus reads the words like a shell.
    let command = (words.map(\.shellWord) + [SecretServiceCommand.declaration.name]).joined(separator: " ")
    return """
      \(mark)
      [D-BUS Service]
      Name=\(SecretServiceCommand.defaultName)
      Exec=\(command.replacing(bytesOf: "\\", with: "\\\\"))
      SystemdService=\(unitName)

      """
  }

  /// Returns the unit file. It has no sandbox options: with them, systemd maps other users to `nobody`, and the checks
  /// of the folders above the store would fail.
  static func unit(_ program: String, _ variables: [(name: String, value: String)]) -> String {
    let environment = variables.map { "Environment=\(unitWord("\($0.name)=\($0.value)"))\n" }.joined()
    return """
      \(mark)
      [Unit]
      Description=The keyring of the desktop in a Keytree store
      Documentation=man:keytree(1)
      Wants=gpg-agent.socket
      After=gpg-agent.socket

      [Service]
      Type=dbus
      BusName=\(SecretServiceCommand.defaultName)
      \(environment)ExecStart=\(unitWord(program, isCommand: true)) \(SecretServiceCommand.declaration.name)
      Restart=on-failure
      # A name that is taken and a store that cannot be opened need the user.
      RestartPreventExitStatus=1 2 3 9
      UMask=0077
      LimitCORE=0
      KillMode=mixed

      """
  }

  /// Quotes a word as systemd reads it (systemd.service(5), "Command lines"; systemd.unit(5), "Specifiers").
  private static func unitWord(_ word: String, isCommand: Bool = false) -> String {
    let escaped = word.replacing(bytesOf: "\\", with: "\\\\").replacing(bytesOf: "\"", with: "\\\"")
    let quoted = escaped.replacing(bytesOf: "%", with: "%%")
    return "\"" + (isCommand ? quoted.replacing(bytesOf: "$", with: "$$") : quoted) + "\""
  }
}
