package import Keyring

/// A tracked file in the folder of a store that does not belong there, because git or another program could act on it
/// (threats T18 and T45).
package struct UnexpectedFile: Equatable, Sendable {
  /// The path relative to the top of the work tree. Invalid UTF-8 is replaced.
  package let path: String
  /// The reason why the file does not belong there.
  package let reason: StrayReason
}

extension Repository {
  /// Returns the files in git's index that are within the store and do not belong there, sorted by path.
  ///
  /// - Parameter allowed: The files that are allowed.
  /// - Throws: The errors of `Git.run`.
  package func strangers(outside allowed: AllowedFiles) throws -> [UnexpectedFile] {
    try indexEntries(below: prefix).compactMap { entry in
      let path = String(validating: entry.path, as: UTF8.self).map { String($0.dropFirst(prefix.count)) }
      return allowed.reason(path, mode: entry.mode).map { reason in
        UnexpectedFile(path: String(decoding: entry.path, as: UTF8.self), reason: reason)
      }
    }
  }
}
