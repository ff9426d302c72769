/// The passwords of the keychain that this process uses.
///
/// Saves, reads, lists and removes secrets by typed names. On Linux the keychain is a Keytree store, and
/// `KeychainSettings` of `KeychainServices` says which. Each function exists twice: one blocks its thread until the
/// work is done, the other is `async` and never blocks a thread of Swift's concurrency. Any thread may call.
///
/// Secrets are bytes: a text is given as its `utf8`. There is no way to hand over or take a `String`, because Swift
/// cannot wipe one.
///
/// A name without an access group means the item of ``accessGroup``. Where that is nil, too, all groups that the
/// program can use are looked at, a new item goes into the keychain's default group, and
/// ``KeychainError/ambiguousItem`` is thrown when several groups have the item.
public struct Passwords: Sendable {
  /// The permission to ask the user, above all for a passphrase.
  public enum Interaction: Sendable, Hashable {
    /// The call waits while somebody is asked.
    case allowed
    /// A call that would have to ask throws ``KeychainError/interactionNotAllowed``.
    case notAllowed
  }

  /// The group of what names none; nil leaves it open.
  public var accessGroup: AccessGroup?
  /// The permission to ask the user.
  public var interaction: Interaction
  let functions: ItemFunctions
  let queue: CallQueue

  /// Looks nothing up: the first call does.
  ///
  /// - Parameters:
  ///   - accessGroup: The group of what names none.
  ///   - interaction: Whether a person may be asked.
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
