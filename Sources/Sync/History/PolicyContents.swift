package import Keyring
package import KeyringModel

/// Reads policies, signatures and key files from a repository, each content only once, with a limit on the total size.
/// A small push can contain thousands of large policies (threat T46).
package struct PolicyContents {
  /// The limit on the total size in bytes.
  package static let limit = 256 << 20

  private let objects: ObjectReader
  private let limit: Int
  private var known: [String: [UInt8]] = [:]
  private var size = 0

  /// Creates a reader of a repository.
  ///
  /// - Parameters:
  ///   - repository: The repository.
  ///   - limit: The limit on the total size in bytes.
  package init(in repository: Repository, limit: Int = Self.limit) {
    (objects, self.limit) = (ObjectReader(git: repository.git), limit)
  }

  /// The number of contents in memory.
  package var keptCount: Int { known.count }

  /// Returns the contents of blobs.
  ///
  /// - Parameters:
  ///   - names: The object names.
  ///   - size: The maximum size of each content in bytes.
  /// - Returns: The bytes by name, without contents that are larger.
  /// - Throws: `tooLarge` if the contents together are far larger than in the repository; the errors of `Git.run`.
  package mutating func contents(
    of names: some Collection<String>, limit size: Int
  ) throws -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    var missing: [String] = []
    for name in Set(names) {
      guard let bytes = known[name] else {
        missing.append(name)
        continue
      }
      if bytes.count <= size { found[name] = bytes }
    }
    let new = try objects.contents(of: missing, limit: size, freeSize: Self.limit)
    keep(new)
    return found.merging(new) { _, new in new }
  }

  private mutating func keep(_ new: [String: [UInt8]]) {
    let newSize = new.values.reduce(0) { $0 + $1.count }
    if size + newSize > limit { (known, size) = ([:], 0) }
    if newSize > limit { return }
    known.merge(new) { _, new in new }
    size += newSize
  }

  /// Returns the key files of members.
  ///
  /// - Parameter names: The object names by member.
  /// - Returns: The key files; nil if all of them together are larger than those of any valid policy.
  /// - Throws: The errors of ``contents(of:limit:)``.
  package mutating func keyFiles(_ names: [Fingerprint: String]) throws -> KeyFiles? {
    let wanted = Set(names.values)
    let sizes = try objects.sizes(of: wanted.subtracting(known.keys)).filter {
      $0.value <= StoreLayout.keyFileLimit
    }
    func size(_ name: String) -> Int { sizes[name] ?? known[name]?.count ?? 0 }
    guard names.values.reduce(0, { $0 + size($1) }) <= StoreLayout.keyFilesLimit else { return nil }
    let contents = try contents(of: wanted, limit: StoreLayout.keyFileLimit)
    return names.compactMapValues { contents[$0] }
  }
}
