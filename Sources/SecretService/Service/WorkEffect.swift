internal import KeyringModel

/// The effect of finished work on what the service knows.
enum WorkEffect: Sendable {
  /// Nothing has changed.
  case none
  /// The items of the store were read.
  case read([ItemRecord], isComplete: Bool)
  /// An item was changed.
  case item(ItemChange)
  /// The agent has forgotten the passphrases.
  case forgot
  /// The agent has the passphrases, or the user has cancelled.
  case roundTrip(RoundTripID, isUnlocked: Bool)
  /// A group was created for a prompt; nil if the prompt failed or was cancelled.
  case createdGroup(PromptID, group: String?)
  /// A group was deleted for a prompt, or the prompt failed or was cancelled.
  case deletedGroup(PromptID, isDeleted: Bool)
}
