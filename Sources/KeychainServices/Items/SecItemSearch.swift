internal import Foundation
internal import Keyring
internal import Secrets

/// A search for the items of a request.
struct SecItemSearch {
  let request: SecItemRequest
  let keyring: Keyring

  /// Something that a query finds: an item, or a certificate and its private key.
  enum Found {
    case item(ItemRecord)
    case identity(certificate: ItemRecord, key: ItemRecord)

    /// The item that represents it; for an identity, the certificate.
    var record: ItemRecord {
      switch self {
      case .item(let record): record
      case .identity(let certificate, _): certificate
      }
    }
  }

  /// The results of a query.
  struct Matches {
    var found: [Found]
    /// The content of the items that had to be decrypted to check whether they match.
    var contents: [ItemPlace: Data] = [:]
  }

  /// Returns all matches regardless of the limit, in order of creation; identities are in the order of their
  /// certificates.
  ///
  /// - Throws: `errSecItemNotFound` if nothing matches; `errSecDecode` if nothing matches or the request changes items,
  ///   and a part of the index that could contain matches cannot be read.
  func matches() throws -> Matches {
    let matches = request.isIdentity ? try identities() : try items()
    guard !matches.found.isEmpty else { throw SecItemFailure(errSecItemNotFound) }
    return matches
  }

  private func items() throws -> Matches {
    guard let itemClass = request.itemClass else { throw SecItemFailure(errSecInternalComponent) }
    let records = try find(itemClass).filter { record in
      request.itemList?.contains(record) != false && request.matching.accepts(record)
    }
    guard itemClass == .certificate else { return Matches(found: records.map { .item($0) }) }
    let (certificates, contents) = try accepted(records)
    return Matches(found: certificates.map { .item($0) }, contents: contents)
  }

  private func identities() throws -> Matches {
    let (certificates, contents) = try accepted(find(.certificate))
    let keys = try find(.key).filter { $0.attributes[.keyClass] == .integer(1) }
    let wanted = (request.reference as? SecIdentity)?.certificate.itemAttributes.primaryKey(of: .certificate)
    var identities: [Found] = []
    for certificate in certificates where request.itemList?.contains(certificate) != false {
      guard let hash = certificate.attributes[.publicKeyHash],
        wanted.map(certificate.attributes.contain) != false,
        let key = keys.first(where: { $0.attributes[.applicationLabel]?.isSame(as: hash) == true })
      else { continue }
      identities.append(.identity(certificate: certificate, key: key))
    }
    return Matches(found: identities, contents: contents)
  }

  // MARK: Queries

  /// Returns the query for the items of a class.
  func query(for itemClass: ItemClass) -> Query {
    var predicates = part(itemClass).entries.map { entry in
      Predicate.equal(entry.name, entry.value, ignoresCase: request.matching.ignoresCase)
    }
    // The dates of an identity are those of its certificate, as in the results.
    if !request.isIdentity || itemClass == .certificate {
      if let created = request.created { predicates.append(.equal(.created, created)) }
      if let modified = request.modified { predicates.append(.equal(.modified, modified)) }
    }
    if request.persistentReference == nil {
      switch request.synchronizable {
      case .no: predicates.append(.equal(.synchronizable, .boolean(false)))
      case .yes: predicates.append(.equal(.synchronizable, .boolean(true)))
      case .any: break
      }
    }
    if let group = request.group { predicates.append(.equal(.group, .string(group))) }
    // A persistent reference is an id, and fields have ids, too. Apple's functions find only items without a field.
    if AttributeSchema.applies(.field, to: itemClass) { predicates.append(.equal(.field, .string(""))) }
    return Query(itemClass: itemClass, predicates: predicates, limit: .all)
  }

  /// Returns the requested attributes that belong to one part of an identity. An attribute that both parts have belongs
  /// to the certificate, as in the results.
  private func part(_ itemClass: ItemClass) -> Attributes {
    guard request.isIdentity else { return request.attributes }
    var part = Attributes()
    for entry in request.attributes.entries {
      let isOfCertificate = AttributeSchema.applies(entry.name, to: .certificate)
      if isOfCertificate == (itemClass == .certificate) { part[entry.name] = entry.value }
    }
    return part
  }

  private func find(_ itemClass: ItemClass) throws -> [ItemRecord] {
    let groups = keyring.policy.groups
    if let group = request.group, groups[group] == nil { throw SecItemFailure(errSecMissingEntitlement) }
    var query = query(for: itemClass)
    if let reference = request.persistentReference {
      guard reference.isIdentity == request.isIdentity else { return [] }
      if reference.itemClass == itemClass {
        query.predicates.append(.id(reference.id))
      } else if !request.isIdentity {
        return []
      }
    }
    if let id = request.itemID { query.predicates.append(.id(id)) }
    let asked = query
    let matches = try keyring.find(asked)
    // An item in a group that the accepted policy does not list is ignored.
    let items = matches.items.filter { groups[$0.group] != nil && hasWantedControl($0) }
    // The reference is ambiguous. Ids are unique unless the store was tampered with.
    if request.persistentReference?.itemClass == itemClass, items.count > 1 {
      throw SecItemFailure(errSecDecode)
    }
    // The requested item may be in the unreadable part, so it must not be reported as missing.
    if matches.isIndexLost || !matches.problems.isEmpty, items.isEmpty || request.purpose != .find {
      throw SecItemFailure(errSecDecode)
    }
    return items
  }

  private func hasWantedControl(_ record: ItemRecord) -> Bool {
    guard let control = request.accessControl else { return true }
    // The key of an identity may have different conditions.
    if request.isIdentity, record.itemClass == .key { return true }
    return record.accessControl == control
  }

  /// Returns the certificates that match, with their content. Certificates are encrypted like all items, so checking
  /// the content costs one decryption each.
  private func accepted(
    _ records: [ItemRecord]
  ) throws -> ([ItemRecord], contents: [ItemPlace: Data]) {
    guard request.matching.needsCertificate else { return (records, [:]) }
    var accepted: [ItemRecord] = []
    var contents: [ItemPlace: Data] = [:]
    for record in records {
      do {
        let data = try secret(of: record)
        if let certificate = SecCertificate(der: data), request.matching.accepts(certificate) {
          accepted.append(record)
          contents[record.place] = data
        }
      } catch {
        let failure = SecItemFailure(error)
        guard request.skips(failure) || failure.isItemMissing else { throw failure }
      }
    }
    return (accepted, contents)
  }

  // MARK: Secrets

  /// Decrypts the content of an item that this search has found.
  func secret(of record: ItemRecord) throws -> Data {
    let query = query(for: record.itemClass)
    let secret = try keyring.secret(for: record, matching: query) { $0.requiresUserPresence }
    return unsafe secret.withBytes { unsafe Data($0) }
  }
}

extension SecItemRequest {
  /// Returns true if an item is left out because the user must not be asked.
  func skips(_ error: SecItemFailure) -> Bool {
    interaction == .skip && error.status == errSecInteractionNotAllowed
  }
}

extension ItemRecord {
  /// The conditions under which the item is released; nil if they cannot be read, in which case the strictest
  /// conditions have to be assumed.
  var accessControl: SecAccessControl? {
    guard let value = attributes[.accessControl] else {
      return SecAccessControl(protection: protection, flags: [])
    }
    guard let control = value.contentBytes.flatMap({ SecAccessControl(serialized: $0) }) else { return nil }
    return SecAccessControl(protection: onThisMachine(control.protection), flags: control.flags)
  }

  /// A Boolean value that indicates whether the user is asked each time the item is read.
  var requiresUserPresence: Bool { accessControl?.requiresUserPresence ?? true }

  /// Keeps the item's new secret in memory if the settings ask for it, unless the user is asked each time.
  func keep(_ secret: borrowing SecretBytes, in keyring: Keyring) {
    if !requiresUserPresence { keyring.keep(secret, of: self) }
  }

  /// The value of `kSecAttrAccessible`.
  var protection: String {
    guard case .string(let word)? = attributes[.accessible] else {
      return onThisMachine(ItemAttributes.defaultProtection(of: itemClass))
    }
    return onThisMachine(ItemAttributes.code(for: word, of: .accessible))
  }

  /// Returns the protection with the item's place taken into account: `keytree` marks an item that stays on this
  /// machine by its place, not by its protection.
  private func onThisMachine(_ protection: String) -> String {
    isLocal && ItemAttributes.isProtection(protection + "u") ? protection + "u" : protection
  }
}

extension Attributes {
  /// Returns the attributes that are part of the primary key of a class.
  func primaryKey(of itemClass: ItemClass) -> Attributes {
    var key = Attributes()
    for name in AttributeSchema.primaryKey(of: itemClass) { key[name] = self[name] }
    return key
  }

  /// Returns true if this contains all of the other attributes with the same values.
  func contain(_ others: Attributes) -> Bool {
    others.entries.allSatisfy { self[$0.name]?.isSame(as: $0.value) == true }
  }
}
