public import Foundation
internal import Keyring
internal import Synchronization

/// The settings of the keychain functions: the store, the folders and the permissions.
///
/// Every value comes from the environment of the process at the first call. A program that needs other values sets
/// ``current`` once, before it calls any of the functions.
public struct KeychainSettings: Sendable, Equatable {
  /// The folder of the store. It can be set to a folder, or to the name of a store in the user's settings, which `keytree
  /// config` shows. The default is that of the command: `KEYTREE_STORE`, else the setting `defaultStore`, else `keytree`
  /// in `$XDG_DATA_HOME` (`~/.local/share`).
  public var store: String {
    // The functions report the reason if the folder is not known.
    get { (try? storePath()) ?? storeName ?? "" }
    set { storeName = newValue }
  }
  /// The name or the folder of the store, if the program has set it.
  private var storeName: String?
  /// The access group of items that are added without one: `KEYTREE_ACCESS_GROUP`, else `default`.
  public var accessGroup: String
  /// A Boolean value that indicates whether the agent may ask the user for a passphrase. False if
  /// `KEYTREE_NO_INPUT` is set to anything but `0`.
  public var allowsInteraction: Bool
  /// The user's GnuPG home: `GNUPGHOME`; nil leaves the choice to GnuPG.
  public var gnupgHome: String?
  /// The folder for private GnuPG homes: `keytree` in `$XDG_RUNTIME_DIR`, else in `$XDG_CACHE_HOME` (`~/.cache`).
  public var engineBase: String
  /// The folder for the state of this machine, such as the accepted policy: `keytree` in `$XDG_STATE_HOME`
  /// (`~/.local/state`).
  public var stateBase: String
  /// The folders that are searched for programs: `PATH`.
  public var searchPath: String
  /// The environment variables, which git gets when it commits the changes to the history of the store.
  private var environment: [String: String]
  /// The time for which decrypted secrets stay in memory; see ``keepsSecrets(for:)``. `KEYTREE_KEEP_SECRETS`, a whole
  /// number of seconds; without it zero, which means that each secret is wiped after its use.
  public private(set) var secretLifetime: Duration

  /// Reads the settings from environment variables.
  ///
  /// - Parameter environment: The variables; by default those of the process. Paths that are not absolute are treated
  ///   as not set, as the XDG Base Directory Specification requires.
  public init(environment: [String: String] = ProcessInfo.processInfo.environment) {
    func text(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    accessGroup = text("KEYTREE_ACCESS_GROUP") ?? GroupName.default
    allowsInteraction = (text("KEYTREE_NO_INPUT") ?? "0") == "0"
    gnupgHome = text("GNUPGHOME")
    let host = HostContext(environment: environment)
    engineBase = host?.engineBase ?? "/nonexistent/keytree"
    stateBase = host?.stateBase ?? "/nonexistent/keytree"
    searchPath = host?.searchPath ?? ""
    self.environment = environment
    secretLifetime = .zero
    if let seconds = text("KEYTREE_KEEP_SECRETS").flatMap({ Int($0) }) {
      keepsSecrets(for: .seconds(seconds))
    }
  }

  /// Keeps decrypted secrets in memory for a time, for a server that reads the same items again and again.
  ///
  /// During this time, reading an item again starts no process and uses no key. The secrets are in memory that is locked
  /// and wiped when the time ends. An item whose file has changed is decrypted again. Items whose access control asks
  /// for the presence of the user are never kept. At most 1,024 secrets and 4 MiB are kept.
  ///
  /// A person who can read the memory of the process can then read all secrets that it has used in this time, even if
  /// the agent has forgotten the passphrase of the key.
  ///
  /// - Parameter duration: The time after the decryption of a secret, at most a day; zero or less to keep none.
  public mutating func keepsSecrets(for duration: Duration) {
    secretLifetime = min(max(duration, .zero), .seconds(86_400))
  }

  /// The settings that the functions use. Setting them makes the next call open the store again.
  public static var current: KeychainSettings {
    get { KeychainSession.shared.settings }
    set { KeychainSession.shared.settings = newValue }
  }

  /// Commits all pending changes to the history of the store, if it has one and git is installed.
  ///
  /// Changes are committed without this call, too, at most a second later. A program calls it to learn why git fails.
  ///
  /// - Throws: The reason why the store cannot be opened or git cannot commit. The changes are stored and stay pending.
  public static func commitHistory() throws {
    try KeychainSession.shared.keyring(asks: false).commitHistory()
  }

  /// Returns the folder of the store.
  ///
  /// - Throws: `KeyringError.location` if `HOME` is not set, or if the user's settings cannot be used.
  func storePath() throws(KeyringError) -> String {
    try StoreLocation.path(of: storeName, environment: environment)
  }

  func host(asks: Bool) -> HostContext {
    var host = HostContext(
      gnupgHome: gnupgHome, engineBase: engineBase, stateBase: stateBase, searchPath: searchPath,
      environment: environment, interaction: asks && allowsInteraction ? .pinentry : .never, keepsIndex: true)
    host.secretLifetime = secretLifetime
    host.sharesTransactions = true
    return host
  }
}
