internal import Keyring
package import KeyringModel

/// The account that was last used at each endpoint, on this machine.
///
/// It is kept beside what the machine has accepted of the store, not in the store: using a password is no change to
/// it. A file for each place is named after a digest and holds the id of an item. When it cannot be read or written,
/// the age of the passwords decides: nothing is lost by it.
package struct RecentLogins: Sendable {
  private let base: String
  private let folder: String

  /// The memory of a keyring.
  ///
  /// - Parameters:
  ///   - base: The folder for what this machine has accepted, `HostContext.stateBase`.
  ///   - keyring: Which keyring.
  package init(base: String, keyring: KeyringID) {
    self.base = base
    folder = "\(keyring.hex)/recent"
  }

  /// The item that was used last; nil when nobody knows.
  func item(at endpoint: Endpoint) -> ItemID? {
    // Whatever the reason is, nobody knows.
    guard let tree = try? FileTree(at: base), let bytes = try? tree.read(file(endpoint), limit: 64) else {
      return nil
    }
    return ItemID(hex: String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
  }

  /// Remembers an item as the one used last.
  func remember(_ id: ItemID, at endpoint: Endpoint) {
    guard item(at: endpoint) != id, let tree = try? FileTree(at: base) else { return }
    do {
      try tree.makeDirectory(folder)
      var random = SystemRandomNumberGenerator()
      let temporary = "\(folder)/.new-\(ItemID(using: &random).hex)"
      try tree.replaceFile(file(endpoint), with: Array("\(id.hex)\n".utf8), temporary: temporary)
    } catch {
      // A memory only: a machine on which nothing can be written to can still hand out passwords.
    }
  }

  /// Refuses to choose between accounts of several groups, unless this machine has used one of them.
  ///
  /// - Throws: `ambiguous`.
  func requireOneGroup(of records: [ItemRecord], at endpoint: Endpoint) throws {
    if let id = item(at: endpoint), records.contains(where: { $0.id == id }) { return }
    try records.requireOneGroup()
  }

  /// Of several items the one used last; else the one whose secret is the newest, and of equal ones the first by path.
  func latest(of records: [ItemRecord], at endpoint: Endpoint) -> ItemRecord? {
    guard records.count > 1 else { return records.first }
    if let id = item(at: endpoint), let known = records.first(where: { $0.id == id }) { return known }
    return records.min { left, right in
      left.secretModified == right.secretModified
        ? left.path.text < right.path.text : left.secretModified > right.secretModified
    }
  }

  private func file(_ endpoint: Endpoint) -> String {
    // Without the path: the same account is most often for all of a server.
    let place = Array(endpoint.scheme.utf8) + [0] + endpoint.host.host + [0] + String(endpoint.port).utf8
    return "\(folder)/\(ContentDigest(of: place).base64url)"
  }
}
