internal import KeyringModel

/// The secrets that this user has stored from this machine: the revision of each, with the path of its item.
///
/// A signature does not prove who chose a secret, because a later change of the attributes or readers signs the record
/// anew. A revision alone would not prove it either: it is public, so another person can sign an item that has it.
///
/// They are stored in `<state>/<keyring>/stored`, one line for each secret. Errors of reading or writing the file are
/// ignored: a program that names no group then stores no secret for people who cannot read its new items.
struct OwnSecrets: Sendable {
  private let base: String
  private let file: String

  /// The largest file that is read, in bytes: about 200,000 secrets.
  private static let sizeLimit = 16 << 20

  /// Creates the list of a keyring. Nothing is read yet.
  ///
  /// - Parameters:
  ///   - base: The folder for the state of this machine, `HostContext.stateBase`.
  ///   - keyring: The id of the keyring.
  init(base: String, keyring: KeyringID) {
    self.base = base
    file = "\(keyring.hex)/stored"
  }

  /// Returns true if this user has stored the secret of an item from this machine.
  ///
  /// - Parameter record: The verified record of the item.
  func contains(_ record: ItemRecord) -> Bool {
    // The error does not matter: the secret then counts as one that others have stored.
    guard let tree = try? FileTree(at: base), let bytes = try? tree.read(file, limit: Self.sizeLimit) else {
      return false
    }
    let line = Self.line(record)
    return bytes.split(separator: UInt8(ascii: "\n")).contains { $0.elementsEqual(line) }
  }

  /// Adds the secrets of items that this user has stored.
  ///
  /// - Parameter records: The records of the items.
  func remember(_ records: [ItemRecord]) {
    guard !records.isEmpty, let tree = try? FileTree(at: base) else { return }
    // The line feed comes first, too, because an interrupted write may have truncated the line before.
    let bytes = records.flatMap { [UInt8(ascii: "\n")] + Self.line($0) } + [UInt8(ascii: "\n")]
    // If no policy was accepted on this machine, the folder does not exist and is not created.
    guard let isThere = try? tree.status(RelativePath.parent(of: file)) != nil, isThere else { return }
    // The error does not matter: the secrets then count as those that others have stored.
    _ = try? tree.appendFile(file, bytes)
  }

  private static func line(_ record: ItemRecord) -> [UInt8] {
    Array("\(record.revision.hex) \(ContentDigest(of: Array(record.path.text.utf8)).base64url)".utf8)
  }
}
