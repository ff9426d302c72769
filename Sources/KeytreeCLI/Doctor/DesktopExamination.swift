internal import CommandSupport
internal import FileSystem
internal import Glibc
internal import OpenPGP
internal import SessionBus
internal import Terminal

/// The checks of `doctor` for the keyring of the desktop.
struct DesktopExamination {
  private static let subject = "keyring"
  private static let name = SecretServiceCommand.defaultName

  let environment: Environment
  /// The user's GnuPG home, if it is known.
  let gnupgHome: String?

  /// The diagnoses. There are none on a machine without a session bus on which the service is not installed.
  var diagnoses: [Diagnosis] {
    // Without `HOME`, nothing is installed.
    let isInstalled = (try? DesktopInstallation(environment))?.isInstalled ?? false
    let owner = owner
    guard isInstalled || owner.isKeytree else { return owner.diagnoses }
    return owner.diagnoses + activation(isInstalled) + agent + desktop
  }

  // MARK: The owner of the name

  /// The program that serves the keyring.
  private var owner: (diagnoses: [Diagnosis], isKeytree: Bool) {
    do {
      let address = try BusAddress.session(
        variable: environment.text("DBUS_SESSION_BUS_ADDRESS"), runtimeFolder: environment.runtimeFolder)
      let connection = try BusConnection(address: address)
      defer { connection.close() }
      guard try connection.owner(of: Self.name) != nil else { return ([], false) }
      let client = try connection.client(Self.name)
      let kind = DesktopKeyringOwner(program: client.executable)
      let process = client.process.map { " (process \($0))" } ?? ""
      let text = "\(client.executable ?? "an unknown program")\(process) serves the keyring of the desktop"
      guard kind == .keytree else { return ([.note(Self.subject, text, advice: kind.advice)], false) }
      guard !client.isOutdated else {
        return (
          [
            .note(
              Self.subject, text + ", but the program was replaced since, for example by an upgrade",
              advice: "`systemctl --user restart \(DesktopInstallation.unitName)`")
          ], true
        )
      }
      return ([.ok(Self.subject, text)], true)
    } catch BusError.libraryMissing {
      return (
        [.note(Self.subject, "libsystemd is not installed", advice: "`sudo apt-get install libsystemd0`")],
        false
      )
    } catch {
      // No bus, as on a server. Then no program can ask for the keyring.
      return ([], false)
    }
  }

  // MARK: Activation

  /// The folders with activation files, in the order in which the bus reads them (dbus-daemon(1),
  /// `standard_session_servicedirs`).
  private var serviceFolders: [String] {
    let data = environment.text("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share"
    let folders = [environment.runtimeFolder, environment.dataHome].compactMap { $0 }
    return (folders + data.split(separator: ":").map(String.init)).map { $0 + "/dbus-1/services" }
  }

  private func activation(_ isInstalled: Bool) -> [Diagnosis] {
    let files = serviceFolders.flatMap { folder in activationFiles(in: folder) }
    guard isInstalled, let installation = try? DesktopInstallation(environment) else {
      return [
        .note(
          Self.subject, "the bus does not start Keytree when a program asks for the keyring",
          advice: "`keytree secret-service --install`")
      ]
    }
    if let first = files.first, first != installation.activationPath {
      return [
        .wrong(
          Self.subject, "the bus starts the program in \(first) instead of Keytree",
          advice: "remove that file")
      ]
    }
    return [.ok(Self.subject, "the bus starts Keytree, as \(installation.activationPath) says")]
  }

  /// Returns the activation files in a folder for the name, sorted.
  private func activationFiles(in folder: String) -> [String] {
    guard let entries = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(entries) }
    var names: [String] = []
    while let entry = unsafe readdir(entries) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.hasSuffix(".service") { names.append(name) }
    }
    return names.sorted().map { "\(folder)/\($0)" }.filter { path in
      UserFile.text(path)?.split(separator: "\n").contains("Name=\(Self.name)") ?? false
    }
  }

  // MARK: The agent

  private var agent: [Diagnosis] {
    let path = gnupgHome.map { $0 + "/gpg-agent.conf" } ?? "gpg-agent.conf"
    let options = GnuPGConfiguration.options(
      of: gnupgHome.flatMap { UserFile.text("\($0)/gpg-agent.conf") } ?? "")
    var list: [Diagnosis] = []
    if !options.contains(where: { $0.option == "no-allow-external-cache" }) {
      list.append(
        .note(
          Self.subject, "pinentry may look for your passphrase in this keyring, which never has it",
          advice: "add `no-allow-external-cache` to \(path)"))
    }
    let chosen = options.last { $0.option == "pinentry-program" }?.value ?? "/usr/bin/pinentry"
    let program = RealPath.of(chosen) ?? chosen
    if ["curses", "tty"].contains(where: { program.hasSuffix("-" + $0) }) {
      list.append(
        .note(
          Self.subject, "\(program) needs a terminal, which programs of the desktop do not have",
          advice: "install a pinentry for the desktop, such as pinentry-gnome3 or pinentry-qt"))
    }
    let seconds = options.last { $0.option == "default-cache-ttl" }.flatMap { Int($0.value) } ?? 600
    list.append(
      .note(
        Self.subject, "the agent keeps a passphrase for \(seconds) seconds after its last use",
        advice: "`default-cache-ttl` and `max-cache-ttl` in \(path) change this"))
    return list
  }

  // MARK: The desktop

  /// The desktops for which Chromium and Electron choose the keyring without being told.
  private static let knownDesktops = [
    "Cinnamon", "Deepin", "GNOME", "KDE", "LXQt", "Pantheon", "UKUI", "Unity", "XFCE",
  ]

  private var desktop: [Diagnosis] {
    let names = environment.text("XDG_CURRENT_DESKTOP")?.split(separator: ":").map(String.init) ?? []
    guard !names.isEmpty, !names.contains(where: Self.knownDesktops.contains) else { return [] }
    return [
      .note(
        Self.subject,
        "Chromium and programs made with Electron do not use the keyring on the desktop \(names[0])",
        advice: "start them with `--password-store=gnome-libsecret`")
    ]
  }
}
