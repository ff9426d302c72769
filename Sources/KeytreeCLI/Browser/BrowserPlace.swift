internal import Terminal

/// A place where a browser looks for the programs that its extensions may start.
struct BrowserPlace {
  /// The kinds of browsers, by the form of their manifests.
  enum Family: Equatable {
    case chromium
    case firefox
  }

  /// The browsers that `--install` knows.
  static let names = ["chrome", "chromium", "brave", "firefox"]
  /// The name of the file, which the extension determines.
  static let file = "com.github.browserpass.native.json"

  /// The name on the command line.
  let name: String
  /// The name of the browser for messages.
  let title: String
  /// The form of the manifest.
  let family: Family
  /// The folder with the manifests.
  let folder: String
  /// The folder of this browser inside its sandbox, for Flatpak; nil for an ordinary browser.
  let sandbox: String?
  /// True if the place applies to all users of the machine.
  let isForAllUsers: Bool

  /// The manifest.
  var manifest: BrowserFile { BrowserFile(path: "\(folder)/\(Self.file)", sandbox: sandbox) }

  /// Finds the place of a browser.
  ///
  /// - Parameters:
  ///   - name: the name on the command line.
  ///   - isSystem: true for the place that applies to all users.
  ///   - environment: names the home folder.
  /// - Returns: nil for an unknown name, and for a combination that does not exist.
  init?(name: String, isSystem: Bool, _ environment: Environment) {
    let prefix = "flatpak:"
    if name.hasPrefix(prefix), !isSystem, let home = environment.home {
      let id = String(name.dropFirst(prefix.count))
      guard let (family, folder) = Self.flatpaks[id] else { return nil }
      let sandbox = "\(home)/.var/app/\(id)"
      self.init(name: name, title: "\(id) (Flatpak)", family, "\(sandbox)/\(folder)", sandbox: sandbox)
      return
    }
    guard let row = Self.table.first(where: { $0.name == name }) else { return nil }
    if isSystem {
      self.init(name: name, title: row.title, row.family, row.system, isForAllUsers: true)
    } else {
      guard let base = row.family == .firefox ? environment.home : environment.configurationHome else {
        return nil
      }
      self.init(name: name, title: row.title, row.family, "\(base)/\(row.user)")
    }
  }

  private init(
    name: String, title: String, _ family: Family, _ folder: String, sandbox: String? = nil,
    isForAllUsers: Bool = false
  ) {
    (self.name, self.title) = (name, title)
    (self.family, self.folder, self.sandbox) = (family, folder, sandbox)
    self.isForAllUsers = isForAllUsers
  }

  /// Returns all places on this machine that `--install` can use, in the user's folders and for all users.
  static func all(_ environment: Environment) -> [BrowserPlace] {
    let names = names + flatpaks.keys.sorted().map { "flatpak:" + $0 }
    return names.flatMap { name in
      [false, true].compactMap { BrowserPlace(name: name, isSystem: $0, environment) }
    }
  }

  private struct Row {
    let name: String
    let title: String
    let family: Family
    /// Below `$XDG_CONFIG_HOME`, or below the home folder for Firefox.
    let user: String
    let system: String
  }

  private static let table = [
    Row(
      name: "chrome", title: "Chrome", family: .chromium, user: "google-chrome/NativeMessagingHosts",
      system: "/etc/opt/chrome/native-messaging-hosts"),
    Row(
      name: "chromium", title: "Chromium", family: .chromium, user: "chromium/NativeMessagingHosts",
      system: "/etc/chromium/native-messaging-hosts"),
    // Brave has no folder of its own for all users; it reads Chrome's.
    Row(
      name: "brave", title: "Brave", family: .chromium,
      user: "BraveSoftware/Brave-Browser/NativeMessagingHosts",
      system: "/etc/opt/chrome/native-messaging-hosts"),
    Row(
      name: "firefox", title: "Firefox", family: .firefox, user: ".mozilla/native-messaging-hosts",
      system: "/usr/lib/mozilla/native-messaging-hosts"),
  ]

  /// The browsers of Flathub, with the folders of their manifests below `~/.var/app/ID`.
  private static let flatpaks: [String: (Family, String)] = [
    "com.brave.Browser": (.chromium, "config/BraveSoftware/Brave-Browser/NativeMessagingHosts"),
    "com.google.Chrome": (.chromium, "config/google-chrome/NativeMessagingHosts"),
    "org.chromium.Chromium": (.chromium, "config/chromium/NativeMessagingHosts"),
    "org.mozilla.firefox": (.firefox, ".mozilla/native-messaging-hosts"),
  ]
}
