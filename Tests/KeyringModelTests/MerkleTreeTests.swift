import Encoding
import KeyringModel
import TestSupport
import Testing

/// Tests the tree of RFC 9162 against its definition and against known roots.
@Suite(.serialized)
struct MerkleTreeTests {
  /// MTH of RFC 9162, 2.1.1, implemented literally.
  static func root(_ leaves: ArraySlice<[UInt8]>) -> [UInt8] {
    if leaves.isEmpty { return ContentDigest(of: []).bytes }
    if let leaf = leaves.first, leaves.count == 1 { return ContentDigest(of: [0] + leaf).bytes }
    let split = leaves.startIndex + split(leaves.count)
    return ContentDigest(of: [1] + root(leaves[..<split]) + root(leaves[split...])).bytes
  }

  /// PATH of RFC 9162, 2.1.3.1, implemented literally.
  static func path(_ index: Int, _ leaves: ArraySlice<[UInt8]>) -> [[UInt8]] {
    if leaves.count == 1 { return [] }
    let split = split(leaves.count)
    let middle = leaves.startIndex + split
    if index < split { return path(index, leaves[..<middle]) + [root(leaves[middle...])] }
    return path(index - split, leaves[middle...]) + [root(leaves[..<middle])]
  }

  /// Returns the largest power of two below a number.
  private static func split(_ count: Int) -> Int {
    var power = 1
    while power * 2 < count { power *= 2 }
    return power
  }

  private static func leaves(_ count: Int) -> [[UInt8]] {
    (0..<count).map { number in [UInt8](repeating: UInt8(number), count: number % 5) + [UInt8(number)] }
  }

  private static func tree(_ leaves: [[UInt8]]) -> MerkleTree {
    MerkleTree(leaves: leaves.map { MerkleTree.leaf(of: $0) })
  }

  /// The leaves and roots from the tests of Certificate Transparency implementations.
  static let known: [[UInt8]] = [
    [], [0x00], [0x10], [0x20, 0x21], [0x30, 0x31], [0x40, 0x41, 0x42, 0x43],
    [0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57], (0x60...0x6f).map { $0 },
  ]
  static let roots = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
  ]

  @Test(arguments: 1...8)
  func `one to eight leaves have the known roots`(count: Int) {
    let leaves = Array(Self.known.prefix(count))
    #expect(Hexadecimal.text(Self.tree(leaves).root.bytes) == Self.roots[count - 1])
    #expect(Hexadecimal.text(Self.root(leaves[...])) == Self.roots[count - 1])
  }

  @Test(arguments: 1...70)
  func `roots and paths match the definition, and every path leads to the root`(count: Int) {
    let leaves = Self.leaves(count)
    let tree = Self.tree(leaves)
    #expect(tree.root.bytes == Self.root(leaves[...]))
    for (index, content) in leaves.enumerated() {
      let path = tree.path(of: index)
      #expect(path.map(\.bytes) == Self.path(index, leaves[...]))
      #expect(
        MerkleTree.root(of: MerkleTree.leaf(of: content), at: index, of: count, path: path) == tree.root)
    }
  }

  /// Tries every other index in a tree of each size. Other sizes are not tried: a path also leads to the root for some
  /// other sizes, if the tree has the same shape along the path. That does no harm, because the size is signed.
  @Test(arguments: 1...70)
  func `another index, another leaf or another path never leads to the root`(count: Int) {
    let leaves = Self.leaves(count)
    let tree = Self.tree(leaves)
    for (index, content) in leaves.enumerated() {
      let leaf = MerkleTree.leaf(of: content)
      let path = tree.path(of: index)
      func leads(_ leaf: ContentDigest, _ index: Int, _ path: [ContentDigest]) -> Bool {
        MerkleTree.root(of: leaf, at: index, of: count, path: path) == tree.root
      }
      for other in -1...(count + 1) where other != index { #expect(!leads(leaf, other, path)) }
      #expect(!leads(MerkleTree.leaf(of: content + [0]), index, path))
      #expect(!leads(tree.root, index, path) || count == 1 && leaf == tree.root)
      #expect(!leads(leaf, index, path + [leaf]))
      #expect(!leads(leaf, index, [leaf] + path))
      if !path.isEmpty {
        #expect(!leads(leaf, index, Array(path.dropLast())))
        #expect(!leads(leaf, index, Array(path.dropFirst())))
      }
      for place in path.indices {
        var changed = path
        changed[place] = ContentDigest(of: path[place].bytes)
        #expect(!leads(leaf, index, changed))
        if place > 0 {
          changed = path
          changed.swapAt(place, place - 1)
          #expect(!leads(leaf, index, changed) || changed == path)
        }
      }
    }
  }

  @Test func `a path that is too long or too short for the tree is refused, not truncated`() {
    let leaf = MerkleTree.leaf(of: [1])
    for count in 1...70 {
      let tree = Self.tree(Self.leaves(count))
      for index in 0..<count {
        let needed = tree.path(of: index).count
        for length in 0...8 where length != needed {
          let path = Array(repeating: leaf, count: length)
          #expect(MerkleTree.root(of: leaf, at: index, of: count, path: path) == nil)
        }
      }
    }
    #expect(MerkleTree.root(of: leaf, at: 0, of: 0, path: []) == nil)
    #expect(MerkleTree.root(of: leaf, at: -1, of: 1, path: []) == nil)
    #expect(MerkleTree.root(of: leaf, at: .max, of: .max, path: []) == nil)
  }

  @Test func `a node is never a leaf, so no line can be made of two digests`() {
    let (left, right) = (MerkleTree.leaf(of: [1]), MerkleTree.leaf(of: [2]))
    let tree = MerkleTree(leaves: [left, right])
    #expect(MerkleTree.leaf(of: left.bytes + right.bytes) != tree.root)
    #expect(MerkleTree.leaf(of: [1] + left.bytes + right.bytes) != tree.root)
  }
}
