internal import Keyring
package import KeyringModel

/// All versions of an item that git has, told from the lines of the index alone: nothing is decrypted.
///
/// Only commits are read that touch a file of the index which the item was in; a rename that leads to another file is
/// followed by the item's id. So what it costs depends on the item and not on the age of the store.
package struct ItemHistory: Sendable {
  /// The versions, the newest first.
  package private(set) var versions: [ItemVersion] = []
  /// Whether older ones may be missing, since this clone does not have all of the history.
  package private(set) var isCutOff = false

  /// The item as it was before it was deleted for the last time; nil when it never was.
  package var lastBeforeDeletion: ItemVersion.Past? {
    versions.first { $0.changes == [.deleted] }?.previous
  }

  /// Follows an item.
  ///
  /// - Parameters:
  ///   - id: The item.
  ///   - path: A place that it has or had.
  ///   - repository: The repository of the store.
  /// - Throws: as `Git.run`.
  package init(of id: ItemID, from path: ItemPath, in repository: Repository) throws(SyncError) {
    var search = Search(id: id, repository: repository, shards: [path.shard])
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

/// Finds the files of the index that an item was in, and the commits that concern it.
private struct Search {
  let id: ItemID
  let repository: Repository
  private var lines: ItemLines
  private var shards: Set<UInt8>
  private(set) var commits: [PastCommit] = []
  private var states: [String: ItemLines.State] = [:]

  /// Two commits, one after the other.
  private struct Step: Hashable {
    let old: String
    let new: String
  }

  init(id: ItemID, repository: Repository, shards: Set<UInt8>) {
    (self.id, self.repository, self.shards) = (id, repository, shards)
    lines = ItemLines(of: id, in: repository)
  }

  /// Goes on until all places are known that the item came from or went to.
  mutating func run() throws(SyncError) {
    var looked: Set<Step> = []
    while true {
      try readCommits()
      let steps = Set(self.steps).subtracting(looked)
      looked.formUnion(steps)
      let found = try places(in: steps)
      if found.isSubset(of: shards) { return }
      shards.formUnion(found)
    }
  }

  private mutating func readCommits() throws(SyncError) {
    let paths = shards.sorted().map { repository.prefix + StoreLayout.shardFile($0, isLocal: false) }
    do throws(GitError) {
      commits = try PastCommit.list(touching: paths, in: repository.git)
    } catch {
      throw .git(error)
    }
    let all = Set(commits.flatMap { [$0.name] + $0.parents })
    states = try lines.states(at: all, in: shards).mapValues { ItemLines.State($0.values) }
  }

  /// Where the item comes or goes, as far as the files tell that are looked at.
  private var steps: [Step] {
    commits.flatMap { commit in
      commit.parents.map { Step(old: $0, new: commit.name) }
        .filter { isThere($0.old) != isThere($0.new) }
    }
  }

  private func isThere(_ commit: String) -> Bool { states[commit]?.record != nil }

  /// The files that the item stands in before or after some steps.
  private mutating func places(in steps: Set<Step>) throws(SyncError) -> Set<UInt8> {
    let found = try lines.states(
      at: Set(steps.flatMap { [$0.old, $0.new] }), in: Set(UInt8.min...UInt8.max))
    return Set(found.values.flatMap { $0.filter { $0.value.record != nil }.keys })
  }

  /// What a commit made of the item; nil when one of those that it follows has it just like this, or when it cannot be
  /// told.
  func version(_ commit: PastCommit) -> ItemVersion? {
    guard let now = states[commit.name], !now.isUnknown else { return nil }
    var previous: ItemVersion.Past?
    for parent in commit.parents {
      guard let before = states[parent], !before.isUnknown else { continue }
      if before.record == now.record { return nil }
      if previous == nil, let record = before.record {
        previous = ItemVersion.Past(commit: parent, record: record)
      }
    }
    let isUnknown = commit.parents.contains { states[$0]?.isUnknown ?? false }
    let changes: [ItemVersion.Change]
    switch (previous?.record, now.record) {
    case (let old?, let new?): changes = ItemVersion.Change.between(old, new)
    case (_?, nil): changes = [.deleted]
    case (nil, _?): changes = isUnknown ? [] : [.added]
    case (nil, nil): changes = []
    }
    if changes.isEmpty { return nil }
    return ItemVersion(commit: commit, record: now.record, previous: previous, changes: changes)
  }
}
