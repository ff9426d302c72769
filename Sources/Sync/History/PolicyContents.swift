package import Keyring
package import KeyringModel

/// Reads policies, signatures and key files out of a repository: each content once, and up to a limit for all of them
/// together. A small push can bring thousands of large policies (threat T46).
package struct PolicyContents {
  /// The most bytes of all contents.
  package static let limit = 256 << 20

  private let objects: ObjectReader
  private let limit: Int
  private var known: [String: [UInt8]] = [:]
  private var rest: Int

  /// Reads from a repository.
  ///
  /// - Parameters:
  ///   - repository: The repository.
  ///   - limit: The most bytes of all contents.
  package init(in repository: Repository, limit: Int = Self.limit) {
    (objects, self.limit, rest) = (ObjectReader(git: repository.git), limit, limit)
  }

  /// Returns the contents of some names.
  ///
  /// - Parameters:
  ///   - names: Names of contents.
  ///   - size: The most bytes of one of them.
  /// - Returns: The bytes by name; a content that is larger is not there.
  /// - Throws: `policyHistoryTooLarge`, and as `Git.run`.
  package mutating func contents(
    of names: some Collection<String>, limit size: Int
  ) throws -> [String: [UInt8]] {
    let wanted = Set(names)
    let sizes = try objects.sizes(of: wanted.subtracting(known.keys)).filter { $0.value <= size }
    let total = sizes.values.reduce(0, +)
    guard total <= rest else { throw SyncError.policyHistoryTooLarge(limit: limit) }
    rest -= total
    known.merge(try objects.contents(of: sizes.keys, limit: size, freeSize: limit)) { _, new in new }
    var found: [String: [UInt8]] = [:]
    for name in wanted {
      if let bytes = known[name], bytes.count <= size { found[name] = bytes }
    }
    return found
  }

  /// Returns the key files of some people.
  ///
  /// - Parameter names: The names of the contents by person.
  /// - Throws: `KeyringError` with a file error when all of them together are too large; as ``contents(of:limit:)``.
  package mutating func keyFiles(_ names: [Fingerprint: String]) throws -> KeyFiles {
    let contents = try contents(of: names.values, limit: StoreLayout.keyFileLimit)
    let keys = names.compactMapValues { contents[$0] }
    guard keys.values.reduce(0, { $0 + $1.count }) <= StoreLayout.keyFilesLimit else {
      let reason = FileError.Reason.tooLarge(limit: StoreLayout.keyFilesLimit)
      throw KeyringError.file(FileError("read", StoreLayout.keys, reason))
    }
    return keys
  }
}
