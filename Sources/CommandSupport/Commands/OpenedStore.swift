internal import Arguments
package import Keyring
internal import Subprocess
package import Sync
internal import Terminal

/// The store of one command. Its folder, keyring and repository are opened when they are first needed, and only once.
///
/// A failure is not remembered, because a command may create what was missing.
package final class OpenedStore {
  private let environment: Environment
  private let globals: GlobalOptions
  private let engine: EngineFactory?
  private var openFolder: FileTree?
  private var readConfiguration: Configuration?
  private var openKeyring: Keyring?
  /// The result of the search for a repository, whose value is nil if the store has none; nil before the search.
  private var foundRepository: Repository??
  /// The policies in the history; nil if they were not needed.
  private var readPolicies: HistoricalPolicies?

  private var hasWarnedOfRemoval = false

  /// Creates the value without opening the store.
  ///
  /// - Parameter engine: the factory of the OpenPGP engine, for tests; nil for GnuPG.
  init(_ environment: Environment, _ globals: GlobalOptions, engine: EngineFactory?) {
    self.environment = environment
    self.globals = globals
    self.engine = engine
  }

  /// Returns the path of the store.
  ///
  /// - Throws: `storeLocationUnknown`.
  func path() throws -> String {
    try environment.storePath(option: globals.store, configuration: configuration)
  }

  /// Returns the user's settings.
  ///
  /// - Throws: the errors of `ConfigurationFile.read`.
  package func configuration() throws -> Configuration {
    if let readConfiguration { return readConfiguration }
    let configuration = try ConfigurationFile(environment).read()
    readConfiguration = configuration
    return configuration
  }

  /// Returns the facts about this machine that the library needs.
  ///
  /// - Throws: `other` if neither `HOME` nor the `XDG` variables name the folders.
  func host() throws -> HostContext {
    guard let engineBase = environment.runtimeBase, let state = environment.stateHome else {
      throw CommandError.noHome
    }
    var host = HostContext(
      gnupgHome: environment.gnupgHome, engineBase: engineBase, stateBase: "\(state)/keytree",
      searchPath: environment.searchPath, interaction: globals.noInput ? .never : .pinentry,
      workers: environment.workers, clock: environment.clock)
    host.environment = environment.gitEnvironment
    // A command commits once, at its end.
    host.commitsChanges = false
    host.engineFactory = engine
    return host
  }

  /// Returns the folder, after checking that only the user can change it.
  ///
  /// - Throws: `KeyringError.noStore`, `.unsafeFolder`, or a file error.
  package func folder() throws -> FileTree {
    if let openFolder { return openFolder }
    let path = try path()
    do {
      let folder = try StoreFolder.open(path)
      openFolder = folder
      return folder
    } catch {
      guard case .noStore = error, let name = try nearestName(to: path) else { throw error }
      throw CommandError.other(
        .notFound,
        message: "no store is named \(ErrorReport.quote(path)), and there is no folder with this name",
        hint: "did you mean `--store \(name)`? `keytree config` lists the named stores")
    }
  }

  /// Returns the named store whose name is similar to a path that was given and is no store; nil for a path with a `/`.
  private func nearestName(to path: String) throws -> String? {
    guard !path.contains("/") else { return nil }
    return Suggestion.nearest(to: path, among: try configuration().storeNames)
  }

  /// Returns the index of the store.
  func index() throws -> Index {
    if let openKeyring { return openKeyring.index }
    let host = try host()
    return Index(in: try folder(), host: host)
  }

  /// Returns the keyring.
  ///
  /// - Parameters:
  ///   - willUse: a closure that is called once for each keyring, before it is returned for the first time.
  /// - Throws: `KeyringError` with the reason why the store cannot be opened or trusted.
  func keyring(willUse: (Keyring) -> Void) throws -> Keyring {
    if let openKeyring { return openKeyring }
    let host = try host()
    let keyring = try Keyring.open(in: try folder(), host: host, past: pastPolicies)
    openKeyring = keyring
    willUse(keyring)
    return keyring
  }

  /// False if the policy has only one group. True if the keyring is not open, so that the policy is not known.
  var mayHaveSeveralGroups: Bool { (openKeyring?.policy.groups.count ?? 2) > 1 }

  /// The keyring; nil if the command has not opened it.
  var openedKeyring: Keyring? { openKeyring }

  /// Returns true for the first call, so that a command reports once that its user was removed from the keyring.
  func warnsOfRemoval() -> Bool {
    defer { hasWarnedOfRemoval = true }
    return !hasWarnedOfRemoval
  }

  /// Closes the keyring, because the command has changed the policy. The next use opens it with the new policy.
  package func closeKeyring() { openKeyring = nil }

  /// The reason why git could not read the policies in the history; nil if it could, or was not needed.
  package var historyError: (any Error)? { readPolicies?.problem }

  /// Returns the policies in the history. If git cannot read them, a new policy is not accepted.
  private func pastPolicies() -> HistoricalPolicies {
    let past = HistoricalPolicies(in: repository)
    readPolicies = past
    return past
  }

  /// Returns the repository of the store, or nil if it has none.
  ///
  /// - Throws: the errors of `Repository.find`.
  package func repository() throws -> Repository? {
    if let foundRepository { return foundRepository }
    let repository = try Repository.find(store: try path(), git: { Git(in: $0, environment) })
    foundRepository = .some(repository)
    return repository
  }

  /// Discards the repository, because the user has run git in it and may have changed its configuration, or because
  /// the command has created one. The next use examines it again.
  package func forgetRepository() { foundRepository = nil }
}

extension Git {
  /// Creates git for a folder, with the environment of a command.
  init(in folder: String, _ environment: Environment) {
    self.init(
      in: folder, searchPath: environment.searchPath, environment: environment.gitEnvironment)
  }
}

extension Environment {
  /// The variables from which the environment of git is derived.
  fileprivate var gitEnvironment: ProcessEnvironment { ProcessEnvironment(entries: entries, locale: nil) }
}
