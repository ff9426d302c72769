package import Keyring

/// Something in the history of a store that has no place there: git or another program could act on it (threats T18 and
/// T45).
package struct UnexpectedFile: Equatable, Sendable {
  /// Its path from the top of the work tree; what is not UTF-8 in it is replaced.
  package let path: String
  /// The reason why the file does not belong there.
  package let reason: StrayReason
}

extension Repository {
  /// Returns the files in the index of git that are within the store and do not belong there, sorted by path.
  ///
  /// - Parameter allowed: What may be there.
  /// - Throws: As `Git.run`.
  package func strangers(outside allowed: AllowedFiles) throws -> [UnexpectedFile] {
    try indexEntries(below: prefix).compactMap { entry in
      let path = String(validating: entry.path, as: UTF8.self).map { String($0.dropFirst(prefix.count)) }
      return allowed.reason(path, mode: entry.mode).map { reason in
        UnexpectedFile(path: String(decoding: entry.path, as: UTF8.self), reason: reason)
      }
    }
  }

  /// An entry of the index of git.
  struct IndexEntry {
    /// The path from the top of the work tree.
    let path: ArraySlice<UInt8>
    /// The kind of the file, as git writes it.
    let mode: String
    /// The name of its content.
    let name: String
    /// A Boolean value that indicates whether git keeps the file out of the work tree: the bit
    /// "skip-worktree" of `git-update-index(1)`.
    let isWithheld: Bool
  }

  /// The entries of the index of git.
  ///
  /// - Parameter folder: Where to look; empty for the whole work tree.
  /// - Throws: As `Git.run`.
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
