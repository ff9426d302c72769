/// A finding about a shard that `check` reports. The reader keeps every byte of the shard in all of these cases.
public enum ShardFinding: Hashable, Sendable {
  /// A line cannot be parsed. It is kept unchanged and blocks writes to the shard.
  case badLine(number: Int, IndexLineError)
  /// Several lines have the same path; blocks writes.
  case duplicatePath(ItemPath, lines: [Int])
  /// Several lines have the same item id.
  case duplicateID(ItemID, lines: [Int])
  /// A line has valid content, but is not in canonical form.
  case notCanonical(line: Int)
  /// A line should come before the line above it.
  case notSorted(line: Int)
  /// The item of a line belongs to another shard.
  case wrongShard(line: Int, ItemPath)
  /// The last line has no line feed, so the file may be truncated.
  case missingFinalLineFeed
  /// The file is larger than the limit; blocks writes.
  case tooLarge(size: Int, limit: Int)
}

/// The reasons why a shard cannot be changed.
public enum ShardError: Error, Hashable, Sendable {
  /// The shard has bad lines, duplicate paths or too many bytes, and has to be repaired first.
  case damaged
  /// The record cannot be written as a line.
  case line(IndexLineError)
  /// The path of the record belongs to another shard.
  case wrongShard(ItemPath)
  /// The shard would become larger than the limit.
  case full(limit: Int)
}
