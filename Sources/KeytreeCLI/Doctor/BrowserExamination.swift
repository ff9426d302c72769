internal import BrowserHost
internal import CommandSupport
internal import FileSystem
internal import Glibc
internal import Keyring
internal import Personalities
internal import Terminal

/// The browser checks of `doctor`: the manifests, and what else a browser needs to start keytree.
///
/// Nothing is reported unless a browser was set up with `keytree browser-host --install`.
struct BrowserExamination {
  private let call: CommandCall
  /// The store; nil if it cannot be opened.
  private let index: Index?

  init(_ call: CommandCall, _ index: Index?) { (self.call, self.index) = (call, index) }

  private static let subject = "browser"

  /// The diagnoses.
  var diagnoses: [Diagnosis] {
    // A program whose path is unknown cannot be set up.
    guard let setup = try? BrowserSetup(call) else { return [] }
    return diagnoses(with: setup)
  }

  /// Returns the diagnoses for a setup.
  func diagnoses(with setup: BrowserSetup) -> [Diagnosis] {
    var (found, damaged): ([(place: BrowserPlace, manifest: BrowserManifest)], [Diagnosis]) = ([], [])
    for place in BrowserPlace.all(call.environment) {
      do {
        if let manifest = try BrowserManifest(of: place) { found.append((place, manifest)) }
      } catch {
        damaged.append(
          .wrong(
            Self.subject, "\(place.title) can start no program: \(place.manifest.path) is not a manifest",
            advice: Self.advice(place)))
      }
    }
    guard found.contains(where: { $0.manifest.program == setup.starter($0.place).path }) else { return [] }
    // A browser reads the manifest of the user before the one for all users.
    let own = Set(found.filter { !$0.place.isForAllUsers }.map(\.place.title))
    let used = found.filter { !($0.place.isForAllUsers && own.contains($0.place.title)) }
    return used.map { examine($0.place, $0.manifest, setup) } + damaged + pinentry + snap + listing
  }

  private static func advice(_ place: BrowserPlace) -> String {
    "`keytree browser-host --install \(place.name) --replace` makes it start keytree"
  }

  private func examine(_ place: BrowserPlace, _ manifest: BrowserManifest, _ setup: BrowserSetup) -> Diagnosis
  {
    guard manifest.program == setup.starter(place).path else {
      return .note(
        Self.subject, "\(place.title) starts another program: \(manifest.program) (\(place.manifest.path))",
        advice: Self.advice(place))
    }
    guard unsafe access(manifest.program, X_OK) == 0 else {
      return .wrong(
        Self.subject, "\(place.title) cannot start \(manifest.program), which is not a program",
        advice: "run `keytree browser-host --install \(place.name)` again")
    }
    let published = place.family == .firefox ? BrowserCaller.addOns : BrowserCaller.origins
    guard manifest.callers.contains(where: published.contains) else {
      return .note(
        Self.subject,
        "\(place.title) does not let the published extension start keytree (\(place.manifest.path))",
        advice: "run `keytree browser-host --install \(place.name)` again")
    }
    return .ok(Self.subject, "\(place.title) starts keytree (\(place.manifest.path))")
  }

  /// A browser has no terminal, so only a pinentry with a window can ask for a passphrase.
  private var pinentry: [Diagnosis] {
    let home = call.environment.gnupgHome ?? call.environment.home.map { $0 + "/.gnupg" }
    let settings = home.flatMap { UserFile.text("\($0)/gpg-agent.conf") } ?? ""
    let chosen = GnuPGConfiguration.options(of: settings).last { $0.option == "pinentry-program" }?.value
    guard let program = RealPath.of(chosen ?? "/usr/bin/pinentry"),
      let name = program.split(separator: "/").last, ["pinentry-curses", "pinentry-tty"].contains(name)
    else { return [] }
    return [
      .note(
        Self.subject, "\(name) needs a terminal, so a browser cannot ask for the passphrase of your key",
        advice: "install a pinentry with a window (`apt install pinentry-gnome3`, or `pinentry-qt`)")
    ]
  }

  /// A browser from a snap cannot start programs of the system.
  private var snap: [Diagnosis] {
    guard let home = call.environment.home else { return [] }
    return ["firefox", "chromium", "brave"].filter { UserFile.isFolder("\(home)/snap/\($0)") }.map { name in
      .note(
        Self.subject, "\(name) is installed as a snap, which may not start keytree",
        advice: "install \(name) as a package of your distribution if it does not")
    }
  }

  private var listing: [Diagnosis] {
    // The diagnoses of the store report an index that cannot be read, and `config` reports invalid settings.
    guard let index, let settings = try? call.browserSettings(),
      let found = try? LoginSearch(index, settings).all()
    else { return [] }
    let omitted = LoginListing(found.names).omitted
    if omitted == 0 { return [] }
    return [
      .note(
        Self.subject, "\(omitted) logins do not fit into the list for browsers, which may have 1 MB",
        advice: "remove logins that you do not need, or move them to another store")
    ]
  }
}
