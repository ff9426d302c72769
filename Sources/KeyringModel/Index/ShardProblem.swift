/// Something in a shard that `check` reports; none of it makes the reader lose a byte.
public enum ShardProblem: Hashable, Sendable {
  /// A line cannot be read; it is kept as it is and blocks writes to the shard.
  case badLine(number: Int, IndexLineError)
  /// Several lines lead to the same path; blocks writes.
  case duplicatePath(ItemPath, lines: [Int])
  /// Several lines have the same item id; blocks writes.
  case duplicateID(ItemID, lines: [Int])
  /// A line has valid content in another form than the writer's.
  case notCanonical(line: Int)
  /// A line should stand before the line above it.
  case notSorted(line: Int)
  /// The item of a line belongs to another shard.
  case wrongShard(line: Int, ItemPath)
  /// The last line has no line feed: the file may have been cut off.
  case missingFinalLineFeed
  /// The file is larger than a shard may be; blocks writes.
  case tooLarge(size: Int, limit: Int)
}

/// The reasons why a shard refuses a change.
public enum ShardError: Error, Hashable, Sendable {
  /// The shard has bad lines, duplicates or too many bytes, and has to be repaired first.
  case damaged
  /// The record cannot be written as a line.
  case line(IndexLineError)
  /// The path of the record leads to another shard.
  case wrongShard(ItemPath)
  /// The shard would become larger than a shard may be.
  case full(limit: Int)
}
