internal import Keyring
internal import KeyringModel
internal import Secrets

/// The passphrases of client certificates, which git requests with the protocol `cert`, an empty host and the path of
/// the certificate (`http.sslCert` with `http.sslCertPasswordProtected`, git-config(1)).
///
/// A passphrase is a generic password of the service `cert`, whose account is the path as git sends it, or the last part
/// of that path. The second form is for reading only: it applies to machines with different folders, like that of the
/// passphrases of ssh, and another certificate can have the same file name.
struct ClientCertificates {
  private static let service: AttributeValue = "cert"

  private let keyring: Keyring

  /// Makes a lookup in a keyring.
  init(_ keyring: Keyring) { self.keyring = keyring }

  /// Returns the path of the certificate that a message is about; nil if it is about anything else.
  static func path(in message: GitCredential) -> [UInt8]? {
    guard message.scheme?.elementsEqual("cert".utf8) == true, message.host?.isEmpty ?? true,
      message.username?.isEmpty ?? true, let path = message.path, !path.isEmpty
    else { return nil }
    return path
  }

  /// Finds the passphrase of a certificate.
  ///
  /// - Returns: The missing parts of the credential, and the item; nil if there is none.
  /// - Throws: `ambiguous` if items of several groups match; `damagedIndex`, `KeyringError`.
  func get(_ path: [UInt8]) throws -> (answer: GitCredential, ItemReference)? {
    guard let (item, record) = try find(path) else { return nil }
    var answer = GitCredential()
    // Git has no user name for a certificate, and asks for one if the answer has none.
    answer.username = []
    answer.password = try item.secret(of: record)
    return (answer, record.reference)
  }

  /// Stores a passphrase under the path of the certificate.
  ///
  /// - Returns: True if anything in the store has changed. A passphrase that is already found is not stored again.
  /// - Throws: The errors of `get(_:)`; `contended`.
  func store(_ path: [UInt8], _ passphrase: SecretSlice) throws -> Bool {
    let exact = item(path)
    if try exact.find() == nil, let (item, record) = try find(path) {
      try keyring.requireMembership(of: record)
      if try item.secret(of: record).isEqual(to: passphrase) { return false }
      // The passphrase may be that of the same certificate.
      guard record.group == GroupName.default else {
        throw KeyringError.shared(.otherGroup(record.group), [record.reference])
      }
    }
    return try exact.store(passphrase)
  }

  /// Erases the passphrase under the path of a certificate, because it was rejected.
  ///
  /// - Parameters:
  ///   - path: The path of the certificate.
  ///   - rejected: The rejected passphrase; another one is kept, because it was changed since. Nil for any.
  /// - Returns: True if it was erased.
  /// - Throws: The errors of `get(_:)`.
  func erase(_ path: [UInt8], _ rejected: SecretSlice?) throws -> Bool {
    let item = item(path)
    guard let record = try item.find() else { return false }
    try keyring.requireMembership(of: record)
    if let rejected, try !item.secret(of: record).isEqual(to: rejected) { return false }
    try keyring.requireRemovable([record])
    do {
      return try keyring.delete([record], ifUnchanged: true)
    } catch KeyringError.itemNotFound {
      return false
    }
  }

  private func find(_ path: [UInt8]) throws -> (item: ServiceItem, record: ItemRecord)? {
    let name = path.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? path
    var found: [(item: ServiceItem, record: ItemRecord)] = []
    for account in path == name ? [path] : [path, name] {
      let item = item(account)
      if let record = try item.find() { found.append((item, record)) }
    }
    try found.map(\.record).requireOneGroup()
    return found.first
  }

  private func item(_ account: [UInt8]) -> ServiceItem {
    ServiceItem(keyring: keyring, service: Self.service, account: AttributeValue(text: account))
  }
}
