internal import Keyring
internal import KeyringModel

/// The files of items in some commits: which there are, and what is in them.
struct ItemFiles {
  /// The items that are looked at.
  let paths: Set<ItemPath>
  private let prefix: String
  /// The names of the contents by `<commit>:<path>`.
  private let names: [String: String]
  private let contents: [String: [UInt8]]

  /// Reads the files of some items in some commits.
  init(_ paths: Set<ItemPath>, in commits: [String], prefix: String, _ objects: ObjectReader)
    throws
  {
    (self.paths, self.prefix) = (paths, prefix)
    let places = Set(commits).flatMap { commit in
      paths.flatMap { [Self.recordFile($0), Self.secretFile($0)] }.map { "\(commit):\(prefix)\($0)" }
    }
    names = try objects.names(of: places)
    contents = try objects.contents(of: Set(names.values), limit: StoreFiles.sizeLimit)
  }

  static func recordFile(_ path: ItemPath) -> String { StoreLayout.recordFile(path, isLocal: false) }
  static func secretFile(_ path: ItemPath) -> String { StoreLayout.itemFile(path, isLocal: false) }

  /// The record of an item in a commit; nil when there is none.
  func record(_ path: ItemPath, at commit: String) -> [UInt8]? { bytes(Self.recordFile(path), commit) }

  /// The encrypted file of an item in a commit; nil when there is none.
  func secret(_ path: ItemPath, at commit: String) -> [UInt8]? { bytes(Self.secretFile(path), commit) }

  /// Returns true if two commits have the same files of an item.
  func areSame(_ path: ItemPath, at first: String, and second: String) -> Bool {
    [Self.recordFile(path), Self.secretFile(path)].allSatisfy { file in
      names["\(first):\(prefix)\(file)"] == names["\(second):\(prefix)\(file)"]
    }
  }

  /// Returns true if an item has a file in a commit that is too large to be read.
  private func isTooLarge(_ path: ItemPath, at commit: String) -> Bool {
    [Self.recordFile(path), Self.secretFile(path)].contains { file in
      names["\(commit):\(prefix)\(file)"].map { contents[$0] == nil } ?? false
    }
  }

  private func bytes(_ file: String, _ commit: String) -> [UInt8]? {
    names["\(commit):\(prefix)\(file)"].flatMap { contents[$0] }
  }

  /// Verifies the items of a commit: the record, and that the encrypted file is the one that it describes.
  ///
  /// - Parameters:
  ///   - commit: The commit.
  ///   - judges: The keyrings by whose policies somebody may have signed them; one is enough.
  /// - Returns: For each place that has a record or an encrypted file what it is.
  func items(at commit: String, _ judges: [Keyring]) throws -> [ItemPath: Content] {
    let found = paths.sorted().compactMap { path in
      record(path, at: commit).map { (path, RecordClaim($0, path: path)) }
    }
    var results: [Result<VerifiedRecord, RecordProblem>] = []
    for judge in judges {
      let judged = try judge.verify(found.map(\.1))
      results = results.isEmpty ? judged : zip(results, judged).map { $0.isSuccess ? $0 : $1 }
    }
    var items: [ItemPath: Content] = [:]
    for ((path, _), result) in zip(found, results) {
      switch result {
      case .failure(let fault): items[path] = .distrusted(fault)
      case .success(let verified):
        items[path] = try content(verified, secret(path, at: commit), judges)
      }
    }
    for path in paths where isTooLarge(path, at: commit) {
      items[path] = .distrusted(.damage(.tooLarge(limit: StoreFiles.sizeLimit)))
    }
    for path in paths where items[path] == nil && secret(path, at: commit) != nil {
      items[path] = .notAdopted
    }
    return items
  }

  private func content(
    _ verified: VerifiedRecord, _ message: [UInt8]?, _ judges: [Keyring]
  ) throws -> Content {
    guard let message else { return .distrusted(.damage(.missing)) }
    var fault: RecordProblem?
    for judge in judges {
      fault = try judge.fault(of: verified, message)
      if fault == nil { return .verified(verified) }
    }
    return fault.map { .distrusted($0) } ?? .verified(verified)
  }

  /// The content of an item path.
  enum Content {
    /// An item that a member of its group has signed.
    case verified(VerifiedRecord)
    /// Something that is not believed.
    case distrusted(RecordProblem)
    /// An encrypted file without a record, as other programs make it.
    case notAdopted

    /// The item, if it is one.
    var verified: VerifiedRecord? {
      if case .verified(let record) = self { return record }
      return nil
    }
  }
}

extension Result {
  /// A Boolean value that indicates whether this is a value and not an error.
  fileprivate var isSuccess: Bool {
    if case .success = self { return true }
    return false
  }
}
