package import Keyring
internal import KeyringModel
internal import Subprocess

/// Finishes what plain git has merged: finds out which merges came to an end, and gets from the history what they need.
package struct PlainMerges {
  /// The place of a commit in relation to the one that is checked out.
  private enum Head {
    /// It is the one that is checked out.
    case current
    /// It came before; the commits since, the first parents alone, the oldest first.
    case earlier([Commit])
    /// Another branch went on from it.
    case elsewhere
    /// No branch went on from it: the merge was given up, or was rebased since. The commits of this branch, as for
    /// `earlier`, each after the commit that it was made on.
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

  /// Prepares what drivers have noted.
  ///
  /// - Parameters:
  ///   - tree: The folder of the store.
  ///   - keyring: The store.
  ///   - repository: Its repository, in which nothing is in progress.
  package init(in tree: FileTree, of keyring: Keyring, _ repository: Repository) {
    (self.keyring, self.repository) = (keyring, repository)
    pending = PendingMergeFiles(of: tree)
  }

  /// Merges the items, and removes the notes that are done, those of merges that were given up, and those that are cut
  /// off: their drivers did not succeed.
  ///
  /// - Throws: `KeyringError`, `GitError`; then the notes stay.
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

  // MARK: Ends of merges

  private func place(of head: String) throws -> Head {
    if head.isEmpty { return .abandoned([]) }
    guard try isTrue(["rev-parse", "--verify", "--quiet", "\(head)^{commit}"]) else {
      return .abandoned([])
    }
    if try isTrue(["merge-base", "--is-ancestor", head, "HEAD"]) {
      let commits = try commits(since: head)
      return commits.isEmpty ? .current : .earlier(commits)
    }
    let tips = try repository.git.run([
      "for-each-ref", "--contains=\(head)", "--format=%(objectname)", "refs/heads",
    ])
    if Self.lines(tips).contains(where: { $0 != head }) { return .elsewhere }
    guard try isTrue(["merge-base", head, "HEAD"]) else { return .abandoned([]) }
    let fork = Self.lines(try repository.git.run(["merge-base", head, "HEAD"]))[0]
    return .abandoned(try commits(since: String(fork)))
  }

  /// The answer of a command of git that ends with 0 for yes and 1 for no.
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
    let output = try repository.git.run(
      ["rev-list", "--first-parent", "--reverse", "--parents", "\(start)..HEAD"], limit: 1 << 28)
    return Self.lines(output).map { line in
      let words = line.split(separator: " ").map(String.init)
      return Commit(name: words[0], parent: words.count > 1 ? words[1] : "", isMerge: words.count > 2)
    }
  }

  private static func lines(_ output: [UInt8]) -> [Substring] {
    String(decoding: output, as: UTF8.self).split(separator: "\n")
  }

  /// The names of the contents of the records that were merged, by `<commit>:<path>`.
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

  /// The merge of a note; nil if it was given up, or if another branch has its end.
  private func merge(
    of note: PendingMergeFiles.Note, _ head: Head, _ names: [String: String]
  ) throws -> PlainMerge? {
    guard case .edited(_, let ours, let theirs) = note.change else {
      // The versions of a removed item are looked for in the store, where those of a merge that was given up are not.
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
      // After a rebase of the commit that the merge was made on, another commit does the same.
      return commits.first { version($0.name) == after && version($0.parent) == before }.map(taken)
    case .current: first = nil
    case .earlier(let commits):
      if let commit = commits.first(where: { version($0.name) == after }) { return taken(by: commit) }
      first = commits.first
    }
    // Not committed, as `stash pop` leaves it.
    let now = try keyring.recordBytes(at: note.path)
    if now == theirs { return PlainMerge(note, .taken(acceptsOlderTheirs: false)) }
    // Given up: our version stayed.
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
    // A record from the history may need an encrypted file from there.
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
