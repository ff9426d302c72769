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
  /// judged by the policy of the commit.
  ///
  /// - Parameters:
  ///   - path: The path of the item.
  ///   - keyring: The current store.
  /// - Throws: The errors of `Git.run`; `KeyringError` with `itemNotFound` if the commit has no file there, and as
  ///   `Keyring.historicalItem(_:message:at:)`.
  package func item(at path: ItemPath, in keyring: Keyring) throws -> HistoricalItem {
    let files = try files(at: path)
    do {
      return try keyring.historicalItem(files.record, message: files.message, at: path)
    } catch KeyringError.itemDamaged(let item, .badSignature) {
      guard let found = try earlierItem(files, at: path, in: keyring, withCurrentKeys: true) else {
        throw KeyringError.itemDamaged(item, .badSignature)
      }
      return found
    }
  }

  /// Returns the item at a path like ``item(at:in:)``, also if the subkey that signed it was revoked as compromised since.
  /// Only its signer can know whether they, and not another person, have signed it.
  ///
  /// - Parameters:
  ///   - path: The path of the item.
  ///   - keyring: The current store.
  /// - Throws: The errors of ``item(at:in:)``.
  package func itemByRevokedKey(at path: ItemPath, in keyring: Keyring) throws -> HistoricalItem {
    do {
      return try item(at: path, in: keyring)
    } catch KeyringError.itemDamaged(let item, .invalidSigner(let key, .revoked(let revocation)))
      where revocation.isHard
    {
      let files = try files(at: path)
      guard var found = try earlierItem(files, at: path, in: keyring, withCurrentKeys: false) else {
        throw KeyringError.itemDamaged(item, .invalidSigner(key, .revoked(revocation)))
      }
      found.compromised = key
      return found
    }
  }

  private func files(at path: ItemPath) throws -> (record: [UInt8], message: [UInt8]?) {
    let record = name(of: StoreLayout.recordFile(path, isLocal: false))
    let message = name(of: StoreLayout.itemFile(path, isLocal: false))
    let contents = try objects.contents(of: [record, message], limit: StoreFiles.sizeLimit)
    guard let bytes = contents[record] else {
      if contents[message] == nil { throw KeyringError.itemNotFound }
      throw KeyringError.itemDamaged(.path(path), .noRecord)
    }
    return (bytes, contents[message])
  }

  /// Returns an item that is valid by the policy of the commit.
  ///
  /// Anyone who can push can commit an earlier policy together with a record that its signer was not allowed to sign any
  /// more. So a commit with the record must precede all commits of the branch that have the policy with which the right
  /// ended: the admin who signed that has seen the record, or could have.
  ///
  /// - Parameter isCurrent: True to let later changes of the keys count, such as revocations.
  /// - Returns: nil if the policy is the accepted one or did not lead to it, or if no commit with the record precedes the
  ///   end of the right.
  private func earlierItem(
    _ files: (record: [UInt8], message: [UInt8]?), at path: ItemPath, in keyring: Keyring,
    withCurrentKeys isCurrent: Bool
  ) throws -> HistoricalItem? {
    let policies = PolicyHistoryReader(in: repository)
    guard let step = try policies.step(at: commit), step.digest != ContentDigest(of: keyring.policy.encode())
    else { return nil }
    let past = try policies.steps()
    let judge: Keyring?
    do {
      judge = try keyring.judge(ofAncestor: step, past: past, withCurrentKeys: isCurrent)
    } catch KeyringError.policyNotTrusted {
      judge = nil
    }
    if let problem = past.problem { throw problem }
    guard let judge else { return nil }
    let item = try judge.historicalItem(files.record, message: files.message, at: path, isPast: true)
    let end = try keyring.policy(ending: item, after: step, past: past, byRevocation: !isCurrent)
    return try policies.isAnyBefore(try commitsWithRecord(at: path), policy: end) ? item : nil
  }

  /// Returns this commit, and those of the checked-out branch that have changed the record of an item to that of this one.
  private func commitsWithRecord(at path: ItemPath) throws -> [String] {
    let file = StoreLayout.recordFile(path, isLocal: false)
    let changes = try repository.git.commits(changing: prefix + file, in: ["HEAD"])
    let names = try objects.names(of: [name(of: file)] + changes.map { "\($0):\(prefix)\(file)" })
    let record = names[name(of: file)]
    return [commit] + changes.filter { record != nil && names["\($0):\(prefix)\(file)"] == record }
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
