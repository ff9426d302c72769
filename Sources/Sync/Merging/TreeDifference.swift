/// Which files differ between two commits.
struct TreeDifference {
  /// One file that differs.
  struct Entry {
    /// The kind of the file before, as git writes it; `000000` for none.
    let oldMode: String
    /// The kind of the file afterwards.
    let mode: String
    /// The name of the content before.
    let oldName: String
    /// The name of the content afterwards; nil when the file is gone.
    let name: String?

    /// Whether it is, or was, a file and not a link or a module.
    var isFile: Bool { [mode, oldMode].allSatisfy { $0 == "000000" || $0.hasPrefix("100") } }
  }

  /// By the path from the top of the tree.
  private(set) var entries: [String: Entry] = [:]

  /// Asks git.
  ///
  /// - Parameters:
  ///   - old: A commit, or the name of a tree.
  ///   - new: A commit.
  ///   - git: Git in the repository.
  /// - Throws: `unsafePath` for a name that is not UTF-8, and as `Git.run`.
  init(from old: String, to new: String, in git: Git) throws(SyncError) {
    let fields: [ArraySlice<UInt8>]
    do throws(GitError) {
      fields = try git.records(
        ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index", "--no-textconv", old, new, "--"])
    } catch {
      throw .git(error)
    }
    var index = fields.startIndex
    while index + 1 < fields.endIndex {
      // `:<old mode> <mode> <old name> <name> <status>`, and then the path.
      let words = String(decoding: fields[index].dropFirst(), as: UTF8.self).split(separator: " ")
      guard fields[index].first == UInt8(ascii: ":"), words.count == 5 else {
        throw .git(.unexpectedOutput(command: "diff-tree"))
      }
      guard let path = String(validating: fields[index + 1], as: UTF8.self) else {
        throw .unsafePath(String(decoding: fields[index + 1], as: UTF8.self))
      }
      let isGone = words[3].allSatisfy { $0 == "0" }
      entries[path] = Entry(
        oldMode: String(words[0]), mode: String(words[1]), oldName: String(words[2]),
        name: isGone ? nil : String(words[3]))
      index += 2
    }
  }
}
