/// The settings of a service.
package struct ServiceOptions: Sendable {
  /// True if a collection is locked only after `Lock`. Then the agent asks for the passphrase when a secret is read.
  package var asksLate = false
  /// The folder for the state of this machine, as in `HostContext.stateBase`.
  package var stateBase: String
  /// The time that has passed since a fixed moment.
  package var clock: @Sendable () -> Duration
  /// The current time, for items in memory, in seconds since 1970.
  package var date: @Sendable () -> UInt64

  /// Creates settings.
  package init(
    stateBase: String, clock: @escaping @Sendable () -> Duration, date: @escaping @Sendable () -> UInt64
  ) {
    self.stateBase = stateBase
    self.clock = clock
    self.date = date
  }
}

/// The limits of a service.
package enum ServiceLimits {
  /// The sessions of a sender.
  package static let sessions = 64
  /// The prompts of a sender.
  package static let prompts = 16
  /// The senders that have a session, a prompt, or pending work.
  package static let senders = 1024
  /// The paths in a call of `Unlock` or `Lock`.
  package static let pathsPerUnlock = 4096
  /// The different paths in a call of `GetSecrets`.
  package static let secretsPerCall = 64
  /// The pairs in a search.
  package static let pairsPerSearch = 64
  /// The size of a secret in bytes.
  package static let secretSize = 1 << 20
  /// The size of a message in bytes. The adapter checks it before it unpacks the message.
  package static let messageSize = 4 << 20
  /// The pending work of a sender.
  package static let workPerSender = 32
  /// The pending work of all senders.
  package static let work = 256
}
