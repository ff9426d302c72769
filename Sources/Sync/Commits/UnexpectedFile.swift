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

  /// An entry of git's index.
  struct IndexEntry {
    /// The path relative to the top of the work tree.
    let path: ArraySlice<UInt8>
    /// The git mode of the file.
    let mode: String
    /// The object name of its content.
    let name: String
    /// True if git does not check the file out: the "skip-worktree" bit of `git-update-index(1)`.
    let isWithheld: Bool
  }

  /// Returns the entries of git's index.
  ///
  /// - Parameter folder: The folder to list; empty for the whole work tree.
  /// - Throws: The errors of `Git.run`.
  func indexEntries(below folder: String) throws -> [IndexEntry] {
    let records = try git.records(
      ["ls-files", "-z", "-v", "--stage", "--"] + (folder.isEmpty ? [] : [folder]))
    // `<tag> <mode> <name> <stage>`, a tab, and the path.
    return records.compactMap { record in
      guard let tab = record.firstIndex(of: UInt8(ascii: "\t")) else { return nil }
      let words = record[..<tab].split(separator: UInt8(ascii: " "))
      guard words.count == 4 else { return nil }
      return IndexEntry(
        path: record[(tab + 1)...], mode: String(decoding: words[1], as: UTF8.self),
        name: String(decoding: words[2], as: UTF8.self),
        isWithheld: words[0].elementsEqual("S".utf8))
    }
  }
}
