package import KeyringModel
public import OpenPGP
package import Subprocess

/// The facts about the machine that the library needs. It does not read the environment or the home folder itself.
public struct HostContext: Sendable {
  /// The user's GnuPG home as in `$GNUPGHOME`; `nil` for GnuPG's own default.
  public var gnupgHome: String?
  /// The folder for private GnuPG homes, such as `$XDG_RUNTIME_DIR/keytree`. It must be short, because socket paths
  /// have at most 107 bytes.
  public var engineBase: String
  /// The folder for the policies that this machine has accepted, such as `$XDG_STATE_HOME/keytree`.
  public var stateBase: String
  /// The value of `$PATH`, which is searched for `gpg`.
  public var searchPath: String
  /// The environment variables of git, which commits the changes of a store that has a history. Variables that redirect
  /// git (`GIT_*`) are ignored. Git needs `HOME` to find the user's name and settings; without it, the commits have the
  /// name in the policy.
  package var environment: ProcessEnvironment
  /// Called on another thread if git could not commit changes in the background, with `KeyringError.history`, `.busy`
  /// or a file error. The changes are stored and stay pending: the next change, a later attempt, or the next command of
  /// `keytree` commits them. The same error is reported once until a commit succeeds.
  public var historyFailed: @Sendable (KeyringError) -> Void = { _ in }
  /// True if an open store commits its changes to its history in the background. The commands of `keytree` commit their
  /// changes themselves.
  package var commitsChanges = true
  /// The permitted way to ask the user for a passphrase.
  public var interaction: Interaction
  /// The longest time to wait for the store's lock, in seconds. After that, operations fail with the error `busy`.
  public var lockTimeout: Double
  /// The current time.
  public var clock: @Sendable () -> Timestamp
  /// The number of threads for encrypting many items; 0 for one per processor.
  public var workers: Int
  /// True if an open store caches its index in memory, for a process that makes many queries. The default is false.
  ///
  /// After a few queries the whole index is read; 20,000 items take about 15 MB. From then on each query checks for
  /// changes, which takes some microseconds, and reads only the changed files. It sees all changes that other processes
  /// made before it began, with one exception: a file that is overwritten in place, instead of being replaced as this
  /// library, git and most editors do, is noticed within a second. On a network file system, changes by other machines
  /// become visible when this machine's kernel sees them.
  public var keepsIndex: Bool
  /// The time for which decrypted secrets stay in memory, for a process that reads the same items again and again; zero
  /// to wipe each secret after its use. Only `Keyring.secret(for:matching:asksAgain:)` with a closure uses it.
  package var secretLifetime = Duration.zero
  /// True if changes of threads that wait for each other are committed in one transaction.
  package var sharesTransactions = false
  /// The clocks that determine whether the stamp of a file is recent.
  package var fileClock = FileClock()
  /// Creates the OpenPGP engine, for tests; nil for GnuPG.
  package var engineFactory: EngineFactory?

  /// Creates a context from environment variables, with the same folders that the command `keytree` uses.
  ///
  /// - Parameter environment: The variables of the process: `HOME`, `GNUPGHOME`, `PATH`, `XDG_RUNTIME_DIR`,
  ///   `XDG_CACHE_HOME` and `XDG_STATE_HOME`.
  /// - Returns: nil if a folder is unknown because `HOME` is not an absolute path.
  public init?(environment: [String: String]) {
    func text(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    func folder(_ name: String) -> String? { text(name).flatMap { $0.hasPrefix("/") ? $0 : nil } }
    let home = folder("HOME")
    guard
      let runtime = folder("XDG_RUNTIME_DIR") ?? folder("XDG_CACHE_HOME") ?? home.map({ $0 + "/.cache" }),
      let state = folder("XDG_STATE_HOME") ?? home.map({ $0 + "/.local/state" })
    else { return nil }
    self.init(
      gnupgHome: text("GNUPGHOME"), engineBase: "\(runtime)/keytree", stateBase: "\(state)/keytree",
      searchPath: text("PATH") ?? "/usr/local/bin:/usr/bin:/bin", environment: environment)
  }

  /// Creates a context.
  ///
  /// - Parameter environment: The environment variables of git, which commits changes; `HOME` is the one that it needs.
  ///   Without it, git does not read the user's settings, and commits have the name in the policy.
  public init(
    gnupgHome: String? = nil, engineBase: String, stateBase: String, searchPath: String,
    environment: [String: String] = [:],
    interaction: Interaction = .pinentry, lockTimeout: Double = 30, workers: Int = 0,
    keepsIndex: Bool = false, clock: @escaping @Sendable () -> Timestamp = Timestamp.now
  ) {
    self.gnupgHome = gnupgHome
    self.engineBase = engineBase
    self.stateBase = stateBase
    self.searchPath = searchPath
    self.environment = ProcessEnvironment(environment, locale: nil)
    self.interaction = interaction
    self.lockTimeout = lockTimeout
    self.workers = workers
    self.keepsIndex = keepsIndex
    self.clock = clock
  }

  /// The locations of the user's and the machine's files for the OpenPGP engine.
  package var engineLocations: EngineLocations {
    EngineLocations(userHome: gnupgHome, runtimeBase: engineBase, searchPath: searchPath)
  }

  /// Returns the OpenPGP engine for a keyring. It starts no process before its first use.
  func engine(for keyring: KeyringID, keys: [Fingerprint: [UInt8]]) -> any OpenPGPEngine {
    engineFactory?(keyring, keys)
      ?? Engine(locations: engineLocations, keyringID: keyring.hex, keys: keys, interaction: interaction)
  }
}

/// Creates an OpenPGP engine for a keyring and the public keys of its people.
package typealias EngineFactory =
  @Sendable (_ keyring: KeyringID, _ keys: [Fingerprint: [UInt8]]) -> any OpenPGPEngine
