package import KeyringModel

/// What the engine found on this machine, as facts without wording, for `doctor`.
package struct EngineReport: Sendable {
  /// The state of the file that leads gpg from the engine home to the user's agent.
  package enum Redirect: Sendable, Equatable {
    /// It is there, and names the socket of the user's agent.
    case inPlace
    /// There is none.
    case missing
    /// It names another socket than the one that GnuPG tells now.
    case stale(socket: String)
  }

  /// The gpg that is used, when there is one that may be used.
  package var program: String?
  /// Its version.
  package var version: String?
  /// The version of libgpgme.
  package var libraryVersion: String
  /// The private home that operations run in.
  package var engineHome: String?
  /// The user's GnuPG home, as GnuPG resolves it.
  package var userHome: String?
  /// The socket of the user's agent.
  package var agentSocket: String?
  /// Whether an agent answers there.
  package var agentIsReachable: Bool
  /// The redirect in the engine home.
  package var redirect: Redirect
  /// The people's keys that the engine has.
  package var keys: [PublicKey]
  /// What stands in the way of encrypting to a person, for everyone handed to the engine who has a problem.
  package var problems: [Fingerprint: KeyProblem]
  /// What kept the engine from being used, if anything did.
  package var failure: EngineError?

  /// Starts a report in which nothing has been found out yet.
  ///
  /// - Parameters:
  ///   - libraryVersion: The version of libgpgme.
  ///   - people: Everyone handed to the engine; their keys count as missing until they are found.
  package init(libraryVersion: String, people: [Fingerprint]) {
    self.libraryVersion = libraryVersion
    agentIsReachable = false
    redirect = .missing
    keys = []
    problems = Dictionary(people.map { ($0, .missing) }, uniquingKeysWith: { first, _ in first })
  }
}
