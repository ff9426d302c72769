package import Encoding
package import Keyring
package import KeyringModel

/// The state of a store in a commit.
package struct HistoricalStore: Sendable {
  /// The full name of the commit.
  package let commit: String
  private let repository: Repository
  private let objects: ObjectReader
  private var prefix: String { repository.prefix }

  /// Finds a commit by its name.
  ///
  /// - Parameters:
  ///   - name: Any name of a commit that git accepts: an abbreviated hash, `HEAD~3`, `main@{yesterday}`, or a tag.
  ///   - repository: The repository of the store.
  /// - Returns: Nil if no commit has this name.
  /// - Throws: The errors of `Git.run`.
  package init?(at name: String, in repository: Repository) throws {
    guard let commit = try repository.git.commit(name) else { return nil }
    self.commit = commit
    self.repository = repository
    objects = ObjectReader(git: repository.git)
  }

  /// Finds the last commit that is not newer than a time, according to the clocks of those who committed.
  ///
  /// - Returns: Nil if the history begins later.
  /// - Throws: The errors of `Git.run`.
  package init?(before time: Timestamp, in repository: Repository) throws {
    guard try repository.git.commit("HEAD") != nil else { return nil }
    let seconds = time.microseconds / 1_000_000
    let output = try repository.git.run(["rev-list", "--max-count=1", "--min-age=\(seconds)", "HEAD"])
    let name = String(decoding: output, as: UTF8.self).split(separator: "\n").first.map(String.init)
    guard let name else { return nil }
    try self.init(at: name, in: repository)
  }

  /// Returns items in the index of the commit, without unreadable lines. The index is only a hint for finding an item.
  ///
  /// - Parameter shards: The shards to read; nil for all.
  /// - Throws: The errors of `Git.run`.
  package func records(in shards: [UInt8]? = nil) throws -> [ItemRecord] {
    let files = (shards ?? Array(UInt8.min...UInt8.max)).map {
      name(of: StoreLayout.shardFile($0, isLocal: false))
    }
    return try objects.contents(of: files, limit: StoreLayout.shardLimit).values.flatMap {
      Shard(parsing: $0, number: 0).records
    }
  }

  /// Returns the item at a path, verified like an item of the store. If its signer has left the group since, it is
  /// judged by the policy of the commit, which must be one that led to the accepted one.
  ///
  /// - Parameters:
  ///   - path: The path of the item.
  ///   - keyring: The current store.
  /// - Throws: The errors of `Git.run`; `KeyringError` with `itemNotFound` if the commit has no file there, and as
  ///   `Keyring.historicalItem(_:message:at:)`.
  package func item(at path: ItemPath, in keyring: Keyring) throws -> HistoricalItem {
    let record = name(of: StoreLayout.recordFile(path, isLocal: false))
    let message = name(of: StoreLayout.itemFile(path, isLocal: false))
    let contents = try objects.contents(of: [record, message], limit: StoreFiles.sizeLimit)
    guard let bytes = contents[record] else {
      if contents[message] == nil { throw KeyringError.itemNotFound }
      throw KeyringError.itemDamaged(.path(path), .noRecord)
    }
    do {
      return try keyring.historicalItem(bytes, message: contents[message], at: path)
    } catch KeyringError.itemDamaged(let item, .badSignature) {
      guard let judge = try earlier(keyring) else { throw KeyringError.itemDamaged(item, .badSignature) }
      return try judge.historicalItem(bytes, message: contents[message], at: path, isPast: true)
    }
  }

  /// Returns a keyring with the policy of the commit; nil if it is the accepted one, or did not lead to it.
  private func earlier(_ keyring: Keyring) throws -> Keyring? {
    let policies = PolicyHistoryReader(in: repository)
    guard let step = try policies.step(at: commit), step.digest != ContentDigest(of: keyring.policy.encode())
    else { return nil }
    return try policies.keyring(keyring, at: step)
  }

  /// Returns the first line of the record at a path without verifying it; nil if it does not exist or cannot be read.
  ///
  /// - Throws: The errors of `Git.run`.
  package func record(at path: ItemPath) throws -> ItemRecord? {
    let file = name(of: StoreLayout.recordFile(path, isLocal: false))
    return try objects.contents(of: [file], limit: RecordFile.maximumSize)[file].flatMap {
      ItemRecord(firstLineOf: $0)
    }
  }

  private func name(of file: String) -> String { "\(commit):\(prefix)\(file)" }
}
