package import Keyring
internal import KeyringModel

/// The merge of one file for plain git: `git merge`, `rebase`, `cherry-pick`, `revert` and `stash` call it for files
/// that both sides have changed; gitattributes(5), "Defining a custom merge driver".
///
/// It is told of one file at a time and never fails for what is in it. What has no place in that file is kept beside
/// the store, and put in its place by the next command.
package struct MergeDriver {
  private let tree: FileTree

  /// A driver for the store in a folder.
  package init(for tree: FileTree) { self.tree = tree }

  /// Merges a shard by its items.
  ///
  /// - Parameters:
  ///   - base: The file where both sides come from; empty when there is none.
  ///   - ours: The file on our side.
  ///   - theirs: The file on their side.
  ///   - number: The number of the shard.
  /// - Returns: The merged file.
  /// - Throws: a file error, when it cannot be noted that an item outlives what took it away.
  package func mergeShard(
    base: [UInt8], ours: [UInt8], theirs: [UInt8], number: UInt8
  ) throws(KeyringError) -> [UInt8] {
    let shards = [base, ours, theirs].map { Shard(parsing: $0, number: number) }
    let kept = KeptMessages(of: tree)
    var merge = StoreMerge()
    let usual = merge.prefer
    merge.prefer = { mine, other in
      if kept.yields(other.sealed) { return .ours }
      return kept.yields(mine.sealed) ? .theirs : usual(mine, other)
    }
    // Files are not in sight here, so a line that is gone counts as an item that was deleted.
    let trees = shards.map { StoreMerge.Tree(records: $0.records) { _ in false } }
    let items = merge.merge(base: trees[0], ours: trees[1], theirs: trees[2])
    var bytes: [UInt8] = []
    for record in items.map(\.record) {
      // What was read from a line can be written as one; a copy was made so that it can.
      guard let line = try? IndexLine.encode(record) else { continue }
      bytes += line + [UInt8(ascii: "\n")]
    }
    try noteSurvivors(of: trees.map(\.records), in: items.map(\.record), kept)
    for line in MergeShards.badLines(shards[0].badLines, shards[1].badLines, shards[2].badLines) {
      bytes += line + [UInt8(ascii: "\n")]
    }
    return bytes
  }

  /// Notes the items whose files git settles without a driver: those that a side has taken away, deleted or renamed into
  /// another shard, and conflict copies that are new. The next command has to do the rest.
  private func noteSurvivors(
    of sides: [[ItemRecord]], in merged: [ItemRecord], _ kept: KeptMessages
  ) throws(KeyringError) {
    let (mine, others) = (Set(sides[1].map(\.id)), Set(sides[2].map(\.id)))
    for base in sides[0] where !mine.contains(base.id) || !others.contains(base.id) {
      try kept.note(base: base)
    }
    for record in merged
    where record.isConflictCopy && !(mine.contains(record.id) && others.contains(record.id)) {
      try kept.note(copy: record.id)
    }
  }

  /// Merges a message.
  ///
  /// - Parameters:
  ///   - base: The message where both sides come from; empty when there is none.
  ///   - ours: The message on our side.
  ///   - theirs: The message on their side.
  ///   - keyring: The store, to see what is in the messages; nil when it cannot be opened.
  /// - Returns: The message that has the place.
  /// - Throws: a file error, when the other one cannot be kept.
  package func mergeMessage(
    base: [UInt8], ours: [UInt8], theirs: [UInt8], keyring: Keyring?
  ) throws(KeyringError) -> [UInt8] {
    if ours == theirs || theirs == base { return ours }
    if ours == base { return theirs }
    let kept = KeptMessages(of: tree)
    guard let mine = try keyring?.version(of: ours), let other = try keyring?.version(of: theirs) else {
      // Nobody guesses. Which one has the place is settled by what the lines say.
      try kept.keep(theirs)
      return ours
    }
    if mine.id == other.id, mine.revision == other.revision {
      let side = MergeSealer.preferred(
        mine, other, isRight: [ours, theirs].map { keyring?.isSealed($0, to: mine.group) ?? false })
      try kept.note(yielding: side == .ours ? other.sealed : mine.sealed)
      return side == .ours ? ours : theirs
    }
    if mine.id == other.id, !base.isEmpty, let old = try keyring?.version(of: base), old.id == mine.id {
      if old.revision == mine.revision { return theirs }
      if old.revision == other.revision { return ours }
    }
    let isTheirs = other.isLater(than: mine, bySecret: true)
    try kept.keep(isTheirs ? ours : theirs)
    return isTheirs ? theirs : ours
  }
}
