internal import OpenPGP

/// A prompt that was not completed yet.
struct PendingPrompt {
  /// The purpose of a prompt.
  enum Action {
    /// Asks for the passphrases, for objects as the client gave them.
    case unlock([ObjectPath])
    /// Asks whether to create a group, with a label and an alias; the alias may be empty.
    case createGroup(String, label: String, alias: String)
    /// Asks whether to delete a group with its items.
    case deleteGroup(String)
  }

  let sender: Sender
  let action: Action
  /// The time at which it was started; nil if it was not.
  var started: Duration?
  /// Ends the question to the user. Prompts that unlock share that of their round trip.
  var cancellation: Cancellation?

  /// The result of a prompt that was dismissed.
  var emptyResult: PromptResult {
    switch action {
    case .unlock: .paths([])
    case .createGroup: .path(.none)
    case .deleteGroup: .nothing
    }
  }
}

/// The use of the user's keys by which the agent asks for passphrases. Prompts that wait at the same time share it.
struct RoundTrip {
  let id: RoundTripID
  let cancellation: Cancellation
  var prompts: Set<PromptID>
}

/// The number of a round trip.
struct RoundTripID: Hashable, Sendable { let number: Int }
