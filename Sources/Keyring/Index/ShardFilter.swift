/// A small table that shows which of the 256 shards of a folder can have records with a key.
///
/// The table has one bit for each shard and each value of a key's lowest 12 bits. With 80 records in a shard, about
/// one row in ten has the shard's bit set although the shard lacks the key.
struct ShardFilter: Sendable {
  private static let rows = 4096
  /// The number of 64-bit words in a row.
  private static let width = 4
  private var bits: [UInt64]

  /// Creates a filter for shards without records.
  init() { bits = Array(repeating: 0, count: Self.rows * Self.width) }

  /// Replaces the bits of one shard.
  ///
  /// - Parameter content: The shard; nil if it does not exist. All bits are set for a shard with damaged lines.
  mutating func set(_ shard: Int, _ content: CachedShard?) {
    let bit: UInt64 = 1 << UInt64(shard % 64)
    let isDamaged = content?.damaged.isEmpty == false
    for index in stride(from: shard / 64, to: bits.count, by: Self.width) {
      if isDamaged { bits[index] |= bit } else { bits[index] &= ~bit }
    }
    guard let content, !isDamaged else { return }
    for key in content.keys { bits[Self.row(of: key) + shard / 64] |= bit }
  }

  /// Returns the shards that can have all of the given keys, in order; all shards if there are no keys.
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
