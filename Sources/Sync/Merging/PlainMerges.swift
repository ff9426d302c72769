package import Keyring
internal import KeyringModel
internal import Subprocess

/// Finishes merges by plain git: determines which merges were completed, and reads the versions that they need from the
/// history.
package struct PlainMerges {
  /// The position of a commit relative to the one that is checked out.
  private enum Head {
    /// The commit is checked out.
    case current
    /// The commit is an ancestor; the commits since then, oldest first, following only first parents.
    case earlier([Commit])
    /// Only another branch contains the commit.
    case elsewhere
    /// No branch has commits after the commit: the merge was aborted, or was rebased since. The commits of this branch
    /// since the common ancestor, as for `earlier`.
    case abandoned([Commit])
  }

  private struct Commit {
    let name: String
    let parent: String
    let isMerge: Bool
  }

  private let repository: Repository
  private let keyring: Keyring
  private let pending: PendingMergeFiles

  /// Creates a value for the notes of the merge drivers.
  ///
  /// - Parameters:
  ///   - tree: The folder of the store.
  ///   - keyring: The store.
  ///   - repository: The repository of the store, in which no operation is in progress.
  package init(in tree: FileTree, of keyring: Keyring, _ repository: Repository) {
    (self.keyring, self.repository) = (keyring, repository)
    pending = PendingMergeFiles(of: tree)
  }

  /// Merges the items. Removes the notes of finished and aborted merges, and incomplete notes, whose drivers failed.
  ///
  /// - Throws: `KeyringError` or `GitError`; in this case the notes are kept.
  package func finish() throws -> FinishedMerges {
    let notes = try pending.notes()
    var heads: [String: Head] = [:]
    for head in Set(notes.map(\.note.head)) { heads[head] = try place(of: head) }
    let names = try recordNames(notes.map(\.note), heads)
    var done = try pending.cutOffNotes()
    var merges: [PlainMerge] = []
    for (name, note) in notes {
      guard let head = heads[note.head] else { continue }
      if case .elsewhere = head { continue }
      done.append(name)
      if let merge = try merge(of: note, head, names) { merges.append(merge) }
    }
    let concluded = merges
    let past = try versions(for: concluded)
    let finished = try keyring.finish(concluded, with: past)
    let finishedNotes = done
    try pending.remove(finishedNotes)
    return finished
  }

  // MARK: Completed and aborted merges

  private func place(of head: String) throws -> Head {
    if head.isEmpty { return .abandoned([]) }
    guard try isTrue(["rev-parse", "--verify", "--quiet", "\(head)^{commit}"]) else {
      return .abandoned([])
    }
    if try isTrue(["merge-base", "--is-ancestor", head, "HEAD"]) {
      let commits = try commits(since: head)
      return commits.isEmpty ? .current : .earlier(commits)
    }
    let tips = try repository.git.query([
      "for-each-ref", "--contains=\(head)", "--format=%(objectname)", "refs/heads",
    ])
    if Self.lines(tips).contains(where: { $0 != head }) { return .elsewhere }
    guard try isTrue(["merge-base", head, "HEAD"]) else { return .abandoned([]) }
    let fork = Self.lines(try repository.git.run(["merge-base", head, "HEAD"]))[0]
    return .abandoned(try commits(since: String(fork)))
  }

  /// Returns the result of a git command that exits with 0 for yes and 1 for no.
  ///
  /// - Throws: `GitError` for any other status.
  private func isTrue(_ arguments: [String]) throws -> Bool {
    let outcome = try repository.git.outcome(of: arguments)
    switch outcome.ending {
    case .exited(status: 0): return true
    case .exited(status: 1): return false
    default: throw repository.git.failure(arguments, outcome)
    }
  }

  private func commits(since start: String) throws -> [Commit] {
    let output = try repository.git.query(
      ["rev-list", "--first-parent", "--reverse", "--parents", "\(start)..HEAD"], limit: 1 << 28)
    return Self.lines(output).map { line in
      let words = line.split(separator: " ").map(String.init)
      return Commit(name: words[0], parent: words.count > 1 ? words[1] : "", isMerge: words.count > 2)
    }
  }

  private static func lines(_ output: [UInt8]) -> [Substring] {
    String(decoding: output, as: UTF8.self).split(separator: "\n")
  }

  /// Returns the object names of the records that were merged, by `<commit>:<path>`.
  private func recordNames(
    _ notes: [PendingMergeFiles.Note], _ heads: [String: Head]
  ) throws -> [String: String] {
    var places: Set<String> = []
    for note in notes {
      guard case .edited = note.change else { continue }
      switch heads[note.head] {
      case .earlier(let commits), .abandoned(let commits):
        for commit in commits {
          for name in [commit.name, commit.parent] where !name.isEmpty {
            places.insert(place(note.path, name))
          }
        }
      case .current, .elsewhere, nil: continue
      }
    }
    return try ObjectReader(git: repository.git).names(of: places)
  }

  private func place(_ path: ItemPath, _ commit: String) -> String {
    "\(commit):\(repository.prefix)\(StoreLayout.recordFile(path, isLocal: false))"
  }

  /// Returns the merge of a note; nil if it was aborted, or was completed on another branch.
  private func merge(
    of note: PendingMergeFiles.Note, _ head: Head, _ names: [String: String]
  ) throws -> PlainMerge? {
    guard case .edited(_, let ours, let theirs) = note.change else {
      // The versions of a removed item are looked up in the store, which does not contain those of an aborted merge.
      if case .abandoned = head { return nil }
      return PlainMerge(note, .taken(acceptsOlderTheirs: false))
    }
    func taken(by commit: Commit) -> PlainMerge {
      PlainMerge(note, .taken(acceptsOlderTheirs: !commit.isMerge))
    }
    let (before, after) = (try blobName(of: ours), try blobName(of: theirs))
    func version(_ commit: String) -> String? { names[place(note.path, commit)] }
    let first: Commit?
    switch head {
    case .elsewhere: return nil
    case .abandoned(let commits):
      // If the base commit of the merge was rebased, another commit makes the same change.
      return commits.first { version($0.name) == after && version($0.parent) == before }.map(taken)
    case .current: first = nil
    case .earlier(let commits):
      if let commit = commits.first(where: { version($0.name) == after }) { return taken(by: commit) }
      first = commits.first
    }
    // The result is not committed, for example after `stash pop`.
    let now = try keyring.recordBytes(at: note.path)
    if now == theirs { return PlainMerge(note, .taken(acceptsOlderTheirs: false)) }
    // The merge was aborted, and the local version was kept.
    if now == ours || first.map({ version($0.name) == before }) ?? false { return nil }
    return PlainMerge(note, .replaced)
  }

  private func blobName(of bytes: [UInt8]) throws -> String {
    return try repository.hash().blobName(of: bytes)
  }

  // MARK: History

  private func versions(for merges: [PlainMerge]) throws -> HistoricalVersions {
    if merges.isEmpty { return HistoricalVersions() }
    let wanted = try keyring.wantedVersions(for: merges)
    if wanted.isEmpty { return HistoricalVersions() }
    var found = try HistoricalFiles(in: repository).versions(wanted)
    // A record from the history may need an encrypted file from the history, too.
    var more = WantedVersions()
    for (path, digests) in wanted.records {
      for digest in digests {
        guard let record = found.records[digest].flatMap({ try? RecordFile(parsing: $0).record }) else {
          continue
        }
        if found.messages[record.sealed] == nil { more.messages[record.sealed, default: []].insert(path) }
      }
    }
    if !more.isEmpty {
      found.messages.merge(try HistoricalFiles(in: repository).versions(more).messages) { $1 }
    }
    return found
  }

}
