package import Keyring
package import KeyringModel

/// A store as a commit has it.
package struct HistoricalStore: Sendable {
  /// The full name of the commit.
  package let commit: String
  private let prefix: String
  private let objects: ObjectReader

  /// The store in a commit.
  ///
  /// - Parameters:
  ///   - name: Any name that git knows for the commit: digits of it, `HEAD~3`, `main@{yesterday}`, a tag.
  ///   - repository: The repository of the store.
  /// - Returns: nil when no commit has this name.
  /// - Throws: as `Git.run`.
  package init?(at name: String, in repository: Repository) throws {
    guard let commit = try repository.git.commit(name) else { return nil }
    self.commit = commit
    prefix = repository.prefix
    objects = ObjectReader(git: repository.git)
  }

  /// Returns all items as the index of the commit has them, which is a hint for finding one; lines that cannot be read
  /// are left out.
  ///
  /// - Throws: as `Git.run`.
  package func records() throws -> [ItemRecord] {
    let files = (UInt8.min...UInt8.max).map { name(of: StoreLayout.shardFile($0, isLocal: false)) }
    return try objects.contents(of: files, limit: StoreLayout.shardLimit).values.flatMap {
      Shard(parsing: $0, number: 0).records
    }
  }

  /// Returns the item at a place, verified as an item of the store is.
  ///
  /// - Parameters:
  ///   - path: The place.
  ///   - keyring: The store as it is now, whose policy decides who is believed.
  /// - Throws: as `Git.run`; `KeyringError` with `itemNotFound` when the commit has no file there, and as
  ///   `Keyring.historicalItem(_:message:at:)`.
  package func item(at path: ItemPath, in keyring: Keyring) throws -> HistoricalItem {
    let record = name(of: StoreLayout.recordFile(path, isLocal: false))
    let message = name(of: StoreLayout.itemFile(path, isLocal: false))
    let contents = try objects.contents(of: [record, message], limit: StoreFiles.sizeLimit)
    guard let bytes = contents[record] else {
      if contents[message] == nil { throw KeyringError.itemNotFound }
      throw KeyringError.itemDamaged(.path(path), .noRecord)
    }
    return try keyring.historicalItem(bytes, message: contents[message], at: path)
  }

  /// Returns the record at a place as its first line has it, without verifying it; nil when there is none, or one that
  /// cannot be read.
  ///
  /// - Throws: as `Git.run`.
  package func record(at path: ItemPath) throws -> ItemRecord? {
    let file = name(of: StoreLayout.recordFile(path, isLocal: false))
    return try objects.contents(of: [file], limit: RecordFile.maximumSize)[file].flatMap {
      ItemRecord(firstLineOf: $0)
    }
  }

  private func name(of file: String) -> String { "\(commit):\(prefix)\(file)" }
}
