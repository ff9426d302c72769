internal import Keyring
internal import KeyringModel

/// The files of items in some commits, with their contents.
struct ItemFiles {
  /// The paths of the items.
  let paths: Set<ItemPath>
  private let prefix: String
  /// The object names of the files by `<commit>:<path>`.
  private let names: [String: String]
  private let contents: [String: [UInt8]]
  /// Encrypted files that none of the commits has, by their digests.
  var recovered: [ContentDigest: [UInt8]] = [:]

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

  /// Returns the record of an item in a commit; nil if there is none.
  func record(_ path: ItemPath, at commit: String) -> [UInt8]? { bytes(Self.recordFile(path), commit) }

  /// Returns the encrypted file of an item in a commit; nil if there is none.
  func secret(_ path: ItemPath, at commit: String) -> [UInt8]? { bytes(Self.secretFile(path), commit) }

  /// Returns true if two commits have the same files of an item.
  func areSame(_ path: ItemPath, at first: String, and second: String) -> Bool {
    [Self.recordFile(path), Self.secretFile(path)].allSatisfy { file in
      names["\(first):\(prefix)\(file)"] == names["\(second):\(prefix)\(file)"]
    }
  }

  /// Returns the object name of the encrypted file of an item in a commit; nil if there is none.
  func secretName(_ path: ItemPath, at commit: String) -> String? {
    names["\(commit):\(prefix)\(Self.secretFile(path))"]
  }

  /// Returns true if a file of an item in a commit is too large to be read.
  private func isTooLarge(_ path: ItemPath, at commit: String) -> Bool {
    [Self.recordFile(path), Self.secretFile(path)].contains { file in
      names["\(commit):\(prefix)\(file)"].map { contents[$0] == nil } ?? false
    }
  }

  private func bytes(_ file: String, _ commit: String) -> [UInt8]? {
    names["\(commit):\(prefix)\(file)"].flatMap { contents[$0] }
  }

  /// Verifies the items of a commit: the records, and that each encrypted file is the one that its record describes.
  ///
  /// - Parameters:
  ///   - commit: The commit.
  ///   - judges: The keyrings whose policies are used for verification. It is enough if one of them accepts an item.
  /// - Returns: The content of each path that has a record or an encrypted file.
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
    if fault == .damage(.notAsRecorded), judges.contains(where: { $0.isMessage(message) }) {
      return .changed(verified)
    }
    return fault.map { .distrusted($0) } ?? .verified(verified)
  }

  /// The content of an item path.
  enum Content {
    /// An item that a member of its group has signed.
    case verified(VerifiedRecord)
    /// An item with a verified record, whose encrypted file is another OpenPGP message than the record describes, as
    /// other programs change it.
    case changed(VerifiedRecord)
    /// An item that is not verified.
    case distrusted(RecordProblem)
    /// An encrypted file without a record, as other programs create it.
    case notAdopted

    /// True for an item that is not verified.
    var isDistrusted: Bool {
      if case .distrusted = self { return true }
      return false
    }

    /// True for an encrypted file without a record.
    var isNotAdopted: Bool {
      if case .notAdopted = self { return true }
      return false
    }

    /// The record of the item, if it is verified.
    var verified: VerifiedRecord? {
      switch self {
      case .verified(let record), .changed(let record): record
      case .distrusted, .notAdopted: nil
      }
    }
  }
}

extension Result {
  /// True if the result is a success.
  fileprivate var isSuccess: Bool {
    if case .success = self { return true }
    return false
  }
}
