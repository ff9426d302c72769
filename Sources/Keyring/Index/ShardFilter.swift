/// Tells by a few words of memory which of the 256 shards of a folder can have records with a key.
///
/// A table of bits: a row for each value of a key's lowest bits, a column for each shard. With 80 records in a shard
/// about one row in ten has a shard's bit without need.
struct ShardFilter: Sendable {
  private static let rows = 4096
  /// Words of 64 columns in a row.
  private static let width = 4
  private var bits: [UInt64]

  /// A filter for shards without records.
  init() { bits = Array(repeating: 0, count: Self.rows * Self.width) }

  /// Replaces the column of one shard.
  ///
  /// - Parameter content: nil for one that does not exist. One with damaged lines has every bit.
  mutating func set(_ shard: Int, _ content: CachedShard?) {
    let bit: UInt64 = 1 << UInt64(shard % 64)
    let isDamaged = content?.damaged.isEmpty == false
    for index in stride(from: shard / 64, to: bits.count, by: Self.width) {
      if isDamaged { bits[index] |= bit } else { bits[index] &= ~bit }
    }
    guard let content, !isDamaged else { return }
    for key in content.keys { bits[Self.row(of: key) + shard / 64] |= bit }
  }

  /// The shards that can have all of some keys, in order; all shards when there are none.
  func shards(having keys: [UInt32]) -> [Int] {
    var words = Array(repeating: UInt64.max, count: Self.width)
    for key in keys {
      for index in words.indices { words[index] &= bits[Self.row(of: key) + index] }
    }
    var shards: [Int] = []
    for index in words.indices {
      while words[index] != 0 {
        shards.append(index * 64 + words[index].trailingZeroBitCount)
        words[index] &= words[index] - 1
      }
    }
    return shards
  }

  private static func row(of key: UInt32) -> Int { Int(key) % rows * width }
}
