package import SessionBus

extension BusError: ReportableError {
  package var report: ErrorReport { ErrorReport(self) }
}

extension ErrorReport {
  fileprivate init(_ error: BusError) {
    switch error {
    case .libraryMissing(let names):
      self.init(
        .cancelled, "cannot use the session bus: none of \(names.joined(separator: ", ")) is installed",
        hint: "`apt-get install libsystemd0` installs it on Debian")
    case .noAddress:
      self.init(
        .cancelled,
        "cannot find the session bus: `DBUS_SESSION_BUS_ADDRESS` and `XDG_RUNTIME_DIR` are not set",
        hint: "run the command in a desktop session, or start a bus with `dbus-run-session`")
    case .cannotConnect(let address, let problem):
      self.init(
        .failure, "cannot connect to the session bus at \(address): \(ErrorReport.systemMessage(problem))",
        hint: "run the command in a desktop session, or start a bus with `dbus-run-session`")
    case .errorReply(let name, let text):
      self.init(
        .failure, "the session bus reported \(name): \(text)",
        hint: "`busctl --user list` shows whether the bus works")
    case .unexpectedReply(let member):
      self.init(
        .failure, "the session bus sent an invalid reply to \(member)",
        hint: "`busctl --user list` shows whether the bus works")
    case .tooLarge, .tooManyElements, .malformed:
      self.init(
        .failure, "a message on the session bus is too large or malformed",
        hint: "nothing was changed; the message is not shown, because it may contain a secret")
    case .invalidValue:
      self.init(
        .failure, "a value cannot be sent on the session bus",
        hint: "`keytree check` reports damaged items; the value is not shown, because it may be a secret")
    case .system(let function, let problem):
      self.init(
        .failure, "the session bus failed: \(function): \(ErrorReport.systemMessage(problem))",
        hint: "`busctl --user list` shows whether the bus works")
    }
  }
}

/// The error for a name on the bus that another program owns.
package struct NameTakenError: ReportableError {
  private let name: String
  private let process: UInt32?
  private let program: String?
  private let unit: String?

  /// Creates the error for a name and its owner.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - owner: The process that owns it; nil if the bus does not know.
  package init(_ name: String, owner: BusClient?) {
    self.name = name
    (process, program, unit) = (owner?.process, owner?.executable, owner?.unit)
  }

  package var report: ErrorReport {
    ErrorReport(
      .failure, "another program already serves \(name)", hint: DesktopKeyringOwner(program: program).advice,
      details: [
        "process: \(process.map(String.init) ?? "unknown")", "program: \(program ?? "unknown")",
        "unit:    \(unit ?? "none")",
      ])
  }
}

/// The kind of program that serves the Secret Service API.
package enum DesktopKeyringOwner: Equatable, Sendable {
  /// GNOME's keyring.
  case gnomeKeyring
  /// KeePassXC.
  case keePassXC
  /// KDE's wallet.
  case kWallet
  /// Keytree.
  case keytree
  /// Another program.
  case other

  /// Recognizes a program by the name of its file.
  package init(program: String?) {
    let name = program?.split(separator: "/").last.map(String.init) ?? ""
    if name.hasPrefix("gnome-keyring") {
      self = .gnomeKeyring
    } else if name.hasPrefix("keepassxc") {
      self = .keePassXC
    } else if name.hasPrefix("kwallet") || name.hasPrefix("ksecret") {
      self = .kWallet
    } else if name == "keytree" {
      self = .keytree
    } else {
      self = .other
    }
  }

  /// The way to make the program give up the name.
  package var advice: String {
    switch self {
    case .gnomeKeyring:
      "`systemctl --user mask --now gnome-keyring-daemon.service gnome-keyring-daemon.socket` stops it; copy "
        + "/etc/xdg/autostart/gnome-keyring-secrets.desktop to ~/.config/autostart and add the line `Hidden=true`, so "
        + "that the desktop does not start it again"
    case .keePassXC: "switch it off in the settings of KeePassXC, on the page `Secret Service Integration`"
    case .kWallet:
      "set `apiEnabled=false` in the section `[org.freedesktop.secrets]` of ~/.config/kwalletrc, and log in again"
    case .keytree: "`keytree secret-service --replace` takes its place"
    case .other: "stop that program, or try `--replace`, which takes the name from a program that allows it"
    }
  }
}
