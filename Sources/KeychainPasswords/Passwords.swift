/// The passwords of the keychain that this process uses.
///
/// Saves, reads, lists and removes secrets by typed names. On Linux the keychain is a Keytree store, and
/// `KeychainSettings` of `KeychainServices` selects it. Each function has two variants: one blocks its thread until the
/// work is done, the other is `async` and never blocks a thread of Swift's concurrency. The functions may be called
/// from any thread.
///
/// Secrets are bytes; pass a text as its `utf8` view. No function takes or returns a secret as a `String`, because
/// Swift cannot wipe one.
///
/// A name without an access group refers to the item in ``accessGroup``. If that is nil, too, all groups that the
/// program can use are searched, a new item is added to the keychain's default group, and
/// ``KeychainError/ambiguousItem`` is thrown if several groups contain the item.
public struct Passwords: Sendable {
  /// The permission to ask the user, usually for a passphrase.
  public enum Interaction: Sendable, Hashable {
    /// The call waits while the user is asked.
    case allowed
    /// A call that would have to ask the user throws ``KeychainError/interactionNotAllowed``.
    case notAllowed
  }

  /// The group for names without one; nil leaves it unspecified.
  public var accessGroup: AccessGroup?
  /// The permission to ask the user.
  public var interaction: Interaction
  let functions: ItemFunctions
  let queue: CallQueue

  /// Creates an instance. The keychain is not accessed before the first call.
  ///
  /// - Parameters:
  ///   - accessGroup: The group for names without one.
  ///   - interaction: The permission to ask the user.
  public init(accessGroup: AccessGroup? = nil, interaction: Interaction = .allowed) {
    self.init(accessGroup: accessGroup, interaction: interaction, functions: .system, queue: .shared)
  }

  init(
    accessGroup: AccessGroup? = nil, interaction: Interaction = .allowed, functions: ItemFunctions,
    queue: CallQueue = .shared
  ) {
    self.accessGroup = accessGroup
    self.interaction = interaction
    self.functions = functions
    self.queue = queue
  }
}
