package import Encoding

/// The Merkle tree over the records of one transaction (RFC 9162, 2.1), with SHA-256.
package struct MerkleTree: Sendable {
  /// The nodes of each level, the leaves first; the last level is the root alone.
  private let levels: [[ContentDigest]]

  /// Builds the tree.
  ///
  /// - Parameter leaves: The hashes of the leaves in order, at least one; see ``leaf(of:)``.
  package init(leaves: [ContentDigest]) {
    precondition(!leaves.isEmpty, "a tree has a leaf")
    var levels = [leaves]
    while let level = levels.last, level.count > 1 {
      // An odd node moves up unchanged. The result is the tree of RFC 9162, built from the bottom up.
      levels.append(
        stride(from: 0, to: level.count, by: 2).map { index in
          index + 1 < level.count ? Self.node(level[index], level[index + 1]) : level[index]
        })
    }
    self.levels = levels
  }

  /// The root, which is signed.
  package var root: ContentDigest { levels[levels.count - 1][0] }

  /// Returns the inclusion proof of a leaf: the siblings on the path to the root.
  ///
  /// - Parameter index: The number of the leaf, from 0.
  package func path(of index: Int) -> [ContentDigest] {
    var path: [ContentDigest] = []
    var position = index
    for level in levels.dropLast() {
      let sibling = position ^ 1
      if sibling < level.count { path.append(level[sibling]) }
      position >>= 1
    }
    return path
  }

  /// Returns the hash of a leaf: SHA-256 of a zero byte and the content.
  package static func leaf(of content: [UInt8]) -> ContentDigest { ContentDigest(of: [0] + content) }

  /// Returns the root that an inclusion proof leads to (RFC 9162, 2.1.3.2).
  ///
  /// - Parameters:
  ///   - leaf: The hash of the leaf.
  ///   - index: Its number, from 0.
  ///   - count: The number of leaves of the tree.
  ///   - path: The siblings on the path to the root.
  /// - Returns: The root; nil if the path does not fit a tree of that size.
  package static func root(
    of leaf: ContentDigest, at index: Int, of count: Int, path: [ContentDigest]
  ) -> ContentDigest? {
    guard index >= 0, index < count else { return nil }
    var (position, last, hash) = (index, count - 1, leaf)
    for sibling in path {
      guard last > 0 else { return nil }
      if position & 1 == 1 || position == last {
        hash = node(sibling, hash)
        while position & 1 == 0, position != 0 {
          position >>= 1
          last >>= 1
        }
      } else {
        hash = node(hash, sibling)
      }
      position >>= 1
      last >>= 1
    }
    return last == 0 ? hash : nil
  }

  private static func node(_ left: ContentDigest, _ right: ContentDigest) -> ContentDigest {
    ContentDigest(of: 1, left, right)
  }
}
