package import Keyring

/// What a file that is no part of the store becomes.
package struct OtherFile: Sendable, Equatable {
  /// Its kind, as git writes it.
  package let mode: String
  /// The name of its content; nil when it goes.
  package let name: String?
}

/// What a merge comes to: every file that is not any more what our side has.
package struct MergedFiles: Sendable {
  /// Files of the store by their paths in it.
  package var store: [String: Keyring.NewFile] = [:]
  /// All other files, by their paths from the top of the repository.
  package var others: [String: OtherFile] = [:]
  /// How many conflict copies there are that our side does not have.
  package var newCopies = 0
  /// How many secrets were sealed again, since one side has renamed an item and the other has changed its secret.
  package var resealed = 0
}
