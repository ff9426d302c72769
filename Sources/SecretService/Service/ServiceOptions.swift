package import Keyring

/// The settings of a service, and the functions of its surroundings.
package struct ServiceOptions: Sendable {
  /// True if a collection is locked only after `Lock`. Then the agent asks for the passphrase when a secret is read.
  package var asksLate = false
  /// The folder for the state of this machine, as in `HostContext.stateBase`.
  package var stateBase: String
  /// The time that has passed since a fixed moment.
  package var clock: @Sendable () -> Duration
  /// The current time, for items in memory, in seconds since 1970.
  package var date: @Sendable () -> UInt64
  /// The longest time for which a call waits for the agent. An agent that takes longer counts as locked.
  package var agentPatience = Duration.seconds(1)
  /// Called on a worker thread after it has changed the store, before the reply, for example to commit the change to
  /// the history.
  package var storeWasChanged: @Sendable (Keyring) -> Void = { _ in }
  /// Called on a worker thread before it changes the groups: commits pending changes, because each policy needs its own
  /// commit. If it throws, the groups are not changed.
  package var commitPending: @Sendable () throws -> Void = {}
  /// Called on any thread with an error that no reply reports, such as the failure of a prompt.
  package var report: @Sendable (any Error) -> Void = { _ in }

  /// Creates settings.
  package init(
    stateBase: String, clock: @escaping @Sendable () -> Duration, date: @escaping @Sendable () -> UInt64
  ) {
    self.stateBase = stateBase
    self.clock = clock
    self.date = date
  }
}
