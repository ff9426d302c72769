internal import Keyring
package import KeyringModel

/// All versions of an item in the git history, read from its records. Nothing is decrypted or verified.
///
/// Only commits that change the record of the item are read. A rename is followed by the item's id: the commit that
/// removes one record adds another one with the same id. So the cost depends on the item and not on the age of the
/// store.
package struct ItemHistory: Sendable {
  /// The versions, newest first.
  package private(set) var versions: [ItemVersion] = []
  /// True if older versions may be missing because the clone does not have all of the history.
  package private(set) var isCutOff = false

  /// Reads the versions of an item.
  ///
  /// - Parameters:
  ///   - id: The id of the item.
  ///   - path: A path that the item has or had.
  ///   - repository: The repository of the store.
  /// - Throws: The errors of `Git.run`.
  package init(of id: ItemID, from path: ItemPath, in repository: Repository) throws {
    var search = Search(id: id, repository: repository, paths: [path])
    try search.run()
    let roots = repository.shallowCommits
    for commit in search.commits {
      guard var version = search.version(commit) else { continue }
      if version.changes == [.added], roots.contains(commit.name) {
        version.changes = [.alreadyThere]
        isCutOff = true
      }
      versions.append(version)
    }
    for index in versions.indices where versions[index].changes == [.added] {
      if versions[index...].contains(where: { $0.changes == [.deleted] }) {
        versions[index].changes = [.broughtBack]
      }
    }
  }
}

/// Finds the paths that an item had and the commits that changed it.
private struct Search {
  let repository: Repository
  private var records: ItemStates
  private var paths: Set<ItemPath>
  private(set) var commits: [HistoricalCommit] = []
  private var states: [String: ItemStates.State] = [:]

  /// A commit and its parent, of which only one contains the item.
  private struct Step: Hashable {
    let old: String
    let new: String
    let isRemoval: Bool
  }

  init(id: ItemID, repository: Repository, paths: Set<ItemPath>) {
    (self.repository, self.paths) = (repository, paths)
    records = ItemStates(of: id, in: repository)
  }

  /// Searches until all paths of the item are known.
  mutating func run() throws {
    var looked: Set<Step> = []
    while true {
      try readCommits()
      let steps = Set(self.steps).subtracting(looked)
      looked.formUnion(steps)
      let found = try places(in: steps)
      if found.isSubset(of: paths) { return }
      paths.formUnion(found)
    }
  }

  private mutating func readCommits() throws {
    let files = paths.sorted().map { repository.prefix + StoreLayout.recordFile($0, isLocal: false) }
    commits = try HistoricalCommit.list(touching: files, in: repository.git)
    let all = Set(commits.flatMap { [$0.name] + $0.parents })
    let found = try records.states(
      at: Set(all.flatMap { commit in paths.map { ItemStates.Place(commit: commit, path: $0) } }))
    states = Dictionary(grouping: found) { $0.key.commit }.mapValues { ItemStates.State($0.map(\.value)) }
  }

  /// The commits in which the item appears or disappears at the known paths.
  private var steps: [Step] {
    commits.flatMap { commit in
      commit.parents.compactMap { parent in
        let (before, now) = (isThere(parent), isThere(commit.name))
        return before == now ? nil : Step(old: parent, new: commit.name, isRemoval: before)
      }
    }
  }

  private func isThere(_ commit: String) -> Bool { states[commit]?.record != nil }

  /// Returns the paths where the item appears in a commit that removes it from a known path, and the other way round.
  private mutating func places(in steps: Set<Step>) throws -> Set<ItemPath> {
    var places: Set<ItemStates.Place> = []
    for isRemoval in [true, false] {
      let some = steps.filter { $0.isRemoval == isRemoval }
      let changed: ChangedRecords = try ChangedRecords(
        isRemoval ? .added : .removed, in: some.map { [$0.new, $0.old] }, below: [StoreLayout.items],
        repository)
      for step in some {
        let commit = isRemoval ? step.new : step.old
        places.formUnion(
          (changed.paths[step.new] ?? []).map { ItemStates.Place(commit: commit, path: $0) })
      }
    }
    return Set(try records.states(at: places).filter { $0.value.record != nil }.keys.map(\.path))
  }

  /// Returns the change that a commit made to the item; nil if it made none, or if that is unknown.
  func version(_ commit: HistoricalCommit) -> ItemVersion? {
    let now = states[commit.name]
    if now?.isUnknown ?? false { return nil }
    var previous: ItemVersion.Past?
    var isUnknown = false
    for parent in commit.parents {
      let before = states[parent]
      if before?.isUnknown ?? false {
        isUnknown = true
        continue
      }
      if before?.record == now?.record { return nil }
      if previous == nil, let record = before?.record {
        previous = ItemVersion.Past(commit: parent, record: record)
      }
    }
    let changes: [ItemVersion.Change]
    switch (previous?.record, now?.record) {
    case (let old?, let new?): changes = ItemVersion.Change.between(old, new)
    case (_?, nil): changes = [.deleted]
    case (nil, _?): changes = isUnknown ? [] : [.added]
    case (nil, nil): changes = []
    }
    if changes.isEmpty { return nil }
    return ItemVersion(commit: commit, record: now?.record, previous: previous, changes: changes)
  }
}
