internal import Keyring
package import KeyringModel

/// The account that was last used at each endpoint, on this machine.
///
/// It is stored beside the pin and not in the store, because using a password does not change the store. There is one
/// file for each combination of protocol, host and port. Its name is a digest, and its content names an item: by its id, and
/// by the digest of its path, because another person can sign an item of another group that has the id. If the file cannot be
/// read or written, the newest password is used instead.
package struct RecentLogins: Sendable {
  private let base: String
  private let folder: String

  /// Makes the list for a keyring.
  ///
  /// - Parameters:
  ///   - base: The folder for the state of this machine, `HostContext.stateBase`.
  ///   - keyring: The id of the keyring.
  package init(base: String, keyring: KeyringID) {
    self.base = base
    folder = "\(keyring.hex)/recent"
  }

  /// Returns the content of the file; nil if it cannot be read.
  private func content(at endpoint: Endpoint) -> [UInt8]? {
    // The error does not matter: the item is then not known.
    guard let tree = try? FileTree(at: base) else { return nil }
    return try? tree.read(file(endpoint), limit: 128)
  }

  /// Returns the one of some items that was used last; nil if it is not known.
  private func used(of records: [ItemRecord], at endpoint: Endpoint) -> ItemRecord? {
    guard let content = content(at: endpoint) else { return nil }
    return records.first { Self.content($0) == content }
  }

  private static func content(_ record: ItemRecord) -> [UInt8] {
    let place = ContentDigest(of: Array("\(record.group) \(record.path.text)".utf8))
    return Array("\(record.id.hex) \(place.base64url)\n".utf8)
  }

  /// Records that an item was used last.
  func remember(_ record: ItemRecord, at endpoint: Endpoint) {
    let content = Self.content(record)
    guard self.content(at: endpoint) != content, let tree = try? FileTree(at: base) else { return }
    do {
      try tree.makeDirectory(folder)
      var random = SystemRandomNumberGenerator()
      let temporary = "\(folder)/.new-\(ItemID(using: &random).hex)"
      try tree.replaceFile(file(endpoint), with: content, temporary: temporary)
    } catch {
      // The error does not matter: passwords can still be read on a machine with a read-only disk.
    }
  }

  /// Refuses to choose between accounts of several groups, unless this machine has used one of them.
  ///
  /// - Throws: `ambiguous`.
  func requireOneGroup(of records: [ItemRecord], at endpoint: Endpoint) throws {
    if used(of: records, at: endpoint) != nil { return }
    try records.requireOneGroup()
  }

  /// Returns the item that was used last, otherwise the one with the newest secret, and of equal ones the first by
  /// path.
  func latest(of records: [ItemRecord], at endpoint: Endpoint) -> ItemRecord? {
    guard records.count > 1 else { return records.first }
    if let known = used(of: records, at: endpoint) { return known }
    return records.min { left, right in
      left.secretModified == right.secretModified
        ? left.path.text < right.path.text : left.secretModified > right.secretModified
    }
  }

  private func file(_ endpoint: Endpoint) -> String {
    // The path is left out, because an account usually applies to the whole server.
    let place = Array(endpoint.scheme.utf8) + [0] + endpoint.host.host + [0] + String(endpoint.port).utf8
    return "\(folder)/\(ContentDigest(of: place).base64url)"
  }
}
