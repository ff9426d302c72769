extension Repository {
  /// An entry of git's index.
  package struct IndexEntry {
    /// The path relative to the top of the work tree.
    package let path: ArraySlice<UInt8>
    /// The git mode of the file.
    package let mode: String
    /// The object name of its content.
    package let name: String
    /// True if git does not check the file out: the "skip-worktree" bit of `git-update-index(1)`.
    package let isWithheld: Bool
  }

  /// Returns the entries of git's index.
  ///
  /// - Parameter folder: The folder to list; empty for the whole work tree.
  /// - Throws: The errors of `Git.run`.
  package func indexEntries(below folder: String) throws -> [IndexEntry] {
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
