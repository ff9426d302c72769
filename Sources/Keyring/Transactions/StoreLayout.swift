internal import Encoding
package import KeyringModel
internal import OpenPGP

/// The layout of a store, format 1: every path below the root that this program reads or writes.
package enum StoreLayout {
  package static let policy = StoreName.policy
  package static let policySignature = StoreName.policySignature
  package static let keys = StoreName.keys
  package static let items = StoreName.items
  package static let index = StoreName.index
  package static let conflicts = StoreName.conflicts
  /// The recipients of the group `default`, for programs that read pass stores. Keytree never reads it.
  package static let passRecipients = "items/.gpg-id"
  package static let local = StoreName.local
  package static let work = FileTree.workFolder
  package static let lock = ".keytree/lock"
  package static let transactionPrefix = FileTree.transactionPrefix
  package static let quarantinePrefix = "quarantine-"
  package static let commit = "commit.json"
  /// The temporary name of each file of a store that is being created.
  static let creationTemporary = ".keytree/new"
  package static let gitAttributes = StoreName.gitAttributes
  package static let gitIgnore = StoreName.gitIgnore

  /// The largest encrypted file that is read or written, in bytes: the secret's 1 MiB, and room for more than a
  /// thousand recipients.
  package static let sealedItemLimit = Engine.messageLimit
  /// The largest record that is read, in bytes.
  package static let recordFileLimit = RecordFile.maximumSize
  /// The largest secret, in bytes.
  package static let secretLimit = 1 << 20
  /// The largest shard that is read, in bytes.
  package static let shardLimit = Shard.maximumSize
  /// The largest list of steps of a transaction that is read, in bytes: about 100,000 items in one transaction.
  package static let stepsLimit = 64 << 20
  /// The largest policy, pin, or list of recipients that is read, in bytes.
  package static let smallFileLimit = Policy.maximumSize
  /// The largest signature of a policy that is read, in bytes. GnuPG verifies every signature in the file, and a
  /// megabyte holds thousands (threat T46).
  package static let signatureLimit = 16 << 10
  /// The largest key file that is read, in bytes.
  package static let keyFileLimit = KeyFile.sizeLimit
  /// The maximum total size of the key files of a policy, in bytes: enough for more than a thousand people. GnuPG
  /// verifies every signature in them when it imports them.
  package static let keyFilesLimit = 4 << 20

  /// The largest file that a policy allows beside the store, in bytes.
  package static let otherFileLimit = 16 << 20

  /// Returns the maximum size of a file in bytes.
  ///
  /// - Parameter path: A path in the store.
  package static func sizeLimit(of path: String) -> Int {
    if path == policySignature { return signatureLimit }
    if trackedFiles.contains(path) || path == passRecipients { return smallFileLimit }
    if path.hasPrefix("\(keys)/") { return keyFileLimit }
    guard trackedFolders.contains(where: { path.hasPrefix("\($0)/") }) else { return otherFileLimit }
    if path.hasPrefix("\(index)/") { return shardLimit }
    return path.hasSuffix(recordExtension) ? recordFileLimit : sealedItemLimit
  }

  package static func keyFile(_ fingerprint: Fingerprint) -> String {
    "\(keys)/\(fingerprint.text)\(keyExtension)"
  }

  private static let keyExtension = ".asc"

  /// Returns the index folder of the store, or that of the items that never leave this machine.
  package static func indexFolder(isLocal: Bool) -> String { isLocal ? "\(local)/\(index)" : index }

  package static func itemsFolder(isLocal: Bool) -> String { isLocal ? "\(local)/\(items)" : items }

  /// Returns the path of an item's encrypted file.
  package static func itemFile(_ path: ItemPath, isLocal: Bool) -> String {
    "\(itemsFolder(isLocal: isLocal))/\(path.text)\(secretExtension)"
  }

  /// Returns the path of an item's record.
  package static func recordFile(_ path: ItemPath, isLocal: Bool) -> String {
    "\(itemsFolder(isLocal: isLocal))/\(path.text)\(recordExtension)"
  }

  package static let secretExtension = ".gpg"
  package static let recordExtension = ".json"

  /// Returns the path of the item to which an encrypted file or a record belongs; nil for any other file.
  ///
  /// - Parameter file: A path in the store.
  package static func itemPath(ofFile file: String) -> ItemPath? {
    let start = "\(items)/"
    guard file.hasPrefix(start) else { return nil }
    for ending in [secretExtension, recordExtension] where file.hasSuffix(ending) {
      return ItemPath(validating: String(file.dropFirst(start.utf8.count).dropLast(ending.utf8.count)))
    }
    return nil
  }

  /// Returns the path of a shard.
  package static func shardFile(_ number: UInt8, isLocal: Bool) -> String {
    "\(indexFolder(isLocal: isLocal))/\(shardName(number))"
  }

  package static func shardName(_ number: UInt8) -> String {
    "\(Hexadecimal.text(number, digits: 2)).jsonl"
  }

  /// Returns the number of the shard with a file name; nil for any other name.
  package static func shardNumber(_ name: String) -> UInt8? {
    guard let number = UInt8(name.prefix(2), radix: 16), shardName(number) == name else { return nil }
    return number
  }

  /// The top-level files whose history is kept.
  package static let trackedFiles = StoreName.trackedFiles
  package static let trackedFolders = StoreName.trackedFolders

  /// Returns true if a path is that of the record of an item in the store.
  static func isRecordFile(_ path: String) -> Bool {
    path.hasPrefix("items/") && path.hasSuffix(recordExtension)
  }

  /// Returns true if a path has the form of a file whose history is kept.
  ///
  /// An encrypted file may have any name, since programs that read pass stores choose their own names. A folder that
  /// looks like a file of an item and a list of recipients in a folder below `items` are not allowed, because they
  /// could mislead those programs.
  package static func isStoreFile(_ path: String) -> Bool {
    guard path.isUnambiguousName else { return false }
    if trackedFiles.contains(path) || path == passRecipients { return true }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count > 1 else { return false }
    switch String(parts[0]) {
    case index: return parts.count == 2 && shardNumber(String(parts[1])) != nil
    case keys:
      guard parts.count == 2, parts[1].hasSuffix(keyExtension) else { return false }
      return Fingerprint(String(parts[1].dropLast(keyExtension.utf8.count))) != nil
    case conflicts: return isConflictFile(path)
    case items:
      if itemPath(ofFile: path) != nil { return true }
      // At this level are the folders of items, whose names can have any extension and never contain a space.
      if parts.count == 3, ItemClass(rawValue: String(parts[1])) != nil, !parts[2].contains(" ") {
        return false
      }
      let names = parts.dropFirst()
      return parts[parts.count - 1].hasSuffix(secretExtension)
        && names.allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") }
        && names.dropLast().allSatisfy { !$0.hasSuffix(secretExtension) && !$0.hasSuffix(recordExtension) }
    default: return false
    }
  }

  /// Returns true if a path below `items` is that of an encrypted file that Keytree does not write itself. Other
  /// programs for pass stores create such files.
  ///
  /// - Parameter path: A path in the store.
  package static func isForeignFile(_ path: String) -> Bool {
    path.hasPrefix("\(items)/") && path.hasSuffix(secretExtension) && itemPath(ofFile: path) == nil
      && isStoreFile(path) && AllowedName.isSafePath(path)
  }

  /// Returns true if a path is that of an encrypted file directly in the folder of a class, where a folder of items can
  /// have its name. A merge moves such a file.
  ///
  /// - Parameter path: A path in the store.
  package static func isMisplacedFile(_ path: String) -> Bool {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == items, ItemClass(rawValue: String(parts[1])) != nil else {
      return false
    }
    return parts[2].hasSuffix(secretExtension) && !parts[2].hasPrefix(".") && !isStoreFile(path)
      && AllowedName.isSafePath(path)
  }

  /// Returns true if a folder below `items` may contain encrypted files of other programs.
  ///
  /// - Parameter path: A path in the store.
  static func isForeignFolder(_ path: String) -> Bool { isForeignFile("\(path)/a b\(secretExtension)") }

  /// Returns true if a file's history is kept: it is part of the store and does not stay on this machine.
  package static func isTracked(_ path: String) -> Bool {
    guard RelativePath.isPlain(path) else { return false }
    return trackedFiles.contains(path) || trackedFolders.contains { path.hasPrefix("\($0)/") }
  }
}
