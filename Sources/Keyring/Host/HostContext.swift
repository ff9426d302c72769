internal import KeyringModel
public import OpenPGP

/// What the library needs to know of the machine; it reads neither environment nor home folder by itself.
public struct HostContext: Sendable {
  /// The user's GnuPG home as in `$GNUPGHOME`; `nil` for GnuPG's own default.
  public var gnupgHome: String?
  /// The folder for private GnuPG homes, such as `$XDG_RUNTIME_DIR/keytree`. Keep it short: sockets have
  /// paths of at most 107 bytes.
  public var engineBase: String
  /// The folder for what this machine has accepted, such as `$XDG_STATE_HOME/keytree`.
  public var stateBase: String
  /// The value of `$PATH`, in which `gpg` is looked for.
  public var searchPath: String
  /// Whether, and how, a passphrase may be asked for.
  public var interaction: Interaction
  /// How long to wait for the store's lock, in seconds, before the error `busy`.
  public var lockTimeout: Double
  /// The current time.
  public var clock: @Sendable () -> Timestamp
  /// Workers for sealing many items; 0 means one for each processor.
  public var workers: Int
  /// Whether an open store keeps its index in memory, for a process that asks many questions; off by default.
  ///
  /// After a few questions the whole index is read; 20,000 items take about 15 MB. From then on each question looks
  /// whether anything has changed, which takes some microseconds, and reads only files that have. It sees what other
  /// processes had changed before it began, with one exception: a file that is overwritten in place, instead of being
  /// replaced as this library, git and most editors do, is noticed within a second. On a network file system, what
  /// other machines change is seen when this machine's system sees it.
  public var keepsIndex: Bool
  /// The clocks that a kept index is judged by.
  package var fileClock = FileClock()

  /// Makes a context.
  public init(
    gnupgHome: String? = nil, engineBase: String, stateBase: String, searchPath: String,
    interaction: Interaction = .pinentry, lockTimeout: Double = 30, workers: Int = 0,
    keepsIndex: Bool = false, clock: @escaping @Sendable () -> Timestamp
  ) {
    self.gnupgHome = gnupgHome
    self.engineBase = engineBase
    self.stateBase = stateBase
    self.searchPath = searchPath
    self.interaction = interaction
    self.lockTimeout = lockTimeout
    self.workers = workers
    self.keepsIndex = keepsIndex
    self.clock = clock
  }

  /// Where the OpenPGP engine finds what belongs to the user and to the machine.
  package var engineLocations: EngineLocations {
    EngineLocations(userHome: gnupgHome, runtimeBase: engineBase, searchPath: searchPath)
  }

  /// The OpenPGP engine for a keyring; it starts nothing before its first use.
  func engine(for keyring: KeyringID, keys: [Fingerprint: [UInt8]]) -> any SealingEngine {
    Engine(locations: engineLocations, keyringID: keyring.hex, keys: keys, interaction: interaction)
  }
}
