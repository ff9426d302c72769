package import Keyring

/// The user's keys, as far as the rules of locking need them. Tests replace it.
package protocol KeyAgent: Sendable {
  /// Returns true if reading and storing require no passphrase from the user now. May wait for the agent.
  ///
  /// - Throws: The error of an agent that does not run or does not answer.
  func isUnlocked() throws -> Bool

  /// Makes the agent forget all passphrases.
  func forget() throws

  /// Uses both keys once, so that the agent asks for the passphrases that it does not have.
  ///
  /// - Parameter cancellation: Ends the call from another thread.
  func roundTrip(_ cancellation: Cancellation) throws

  /// Asks the user a question.
  ///
  /// - Parameters:
  ///   - question: The text.
  ///   - cancellation: Ends the call from another thread.
  /// - Returns: True if the user agreed.
  func confirm(_ question: String, _ cancellation: Cancellation) throws -> Bool
}
