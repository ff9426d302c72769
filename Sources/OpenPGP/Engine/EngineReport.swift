package import KeyringModel

/// The state of the engine on this machine, as facts without messages, for `doctor`.
package struct EngineReport: Sendable {
  /// The state of the file that redirects gpg from the engine home to the user's agent.
  package enum Redirect: Sendable, Equatable {
    /// It exists, and names the socket of the user's agent.
    case inPlace
    /// It does not exist.
    case missing
    /// It names another socket than GnuPG reports now.
    case stale(socket: String)
  }

  /// The path of gpg, if a usable one was found.
  package var program: String?
  /// Its version.
  package var version: String?
  /// The version of libgpgme.
  package var libraryVersion: String
  /// The private home that operations run in.
  package var engineHome: String?
  /// The user's GnuPG home, as GnuPG reports it.
  package var userHome: String?
  /// The socket of the user's agent.
  package var agentSocket: String?
  /// True if an agent accepts connections at the socket.
  package var agentIsReachable: Bool
  /// The redirect in the engine home.
  package var redirect: Redirect
  /// The keys of the people that the engine has.
  package var keys: [PublicKey]
  /// The reasons why people cannot be encrypted to; only those people of the engine who have a problem.
  package var problems: [Fingerprint: KeyProblem]
  /// The error that keeps the engine from being used, if any.
  package var failure: EngineError?

  /// Creates a report without results.
  ///
  /// - Parameters:
  ///   - libraryVersion: The version of libgpgme.
  ///   - people: The people of the engine. Their keys count as missing until they are found.
  package init(libraryVersion: String, people: [Fingerprint]) {
    self.libraryVersion = libraryVersion
    agentIsReachable = false
    redirect = .missing
    keys = []
    problems = Dictionary(people.map { ($0, .missing) }, uniquingKeysWith: { first, _ in first })
  }
}
