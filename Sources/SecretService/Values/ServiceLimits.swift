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
  /// The paths of unknown items in a call for which the store is searched. The others count as missing.
  static let lookupsPerCall = 64
  /// The elements of an array in a message. The adapter reads no more.
  package static let elements = 4096
  /// The values in a message, in all of its arrays and structures together. The adapter reads no more.
  package static let values = 1 << 14
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
