internal import Keyring
package import KeyringModel

/// A store as a commit has it.
package struct PastStore: Sendable {
  /// The full name of the commit.
  package let commit: String
  private let prefix: String
  private let objects: ObjectReader

  /// The store in a commit.
  ///
  /// - Parameters:
  ///   - name: Any name that git knows for the commit: digits of it, `HEAD~3`, `main@{yesterday}`, a tag.
  ///   - repository: The repository of the store.
  /// - Returns: nil when nothing has this name.
  /// - Throws: as `Git.run`.
  package init?(at name: String, in repository: Repository) throws(SyncError) {
    do throws(GitError) {
      guard let commit = try repository.git.commit(name) else { return nil }
      self.commit = commit
    } catch {
      throw .git(error)
    }
    prefix = repository.prefix
    objects = ObjectReader(git: repository.git)
  }

  /// All items, also conflict copies; lines that cannot be read are left out.
  ///
  /// - Throws: as `Git.run`.
  package func records() throws(SyncError) -> [ItemRecord] {
    let files = (UInt8.min...UInt8.max).map { name(of: StoreLayout.shardFile($0, isLocal: false)) }
    return try objects.contents(of: files).values.flatMap { Shard(parsing: $0, number: 0).records }
  }

  /// The sealed message of an item; nil when its file is missing.
  ///
  /// - Parameter record: The item as this commit has it.
  /// - Throws: as `Git.run`.
  package func message(of record: ItemRecord) throws(SyncError) -> [UInt8]? {
    let file = name(of: StoreLayout.itemFile(record.path, isLocal: false))
    return try objects.contents(of: [file])[file]
  }

  private func name(of file: String) -> String { "\(commit):\(prefix)\(file)" }
}
