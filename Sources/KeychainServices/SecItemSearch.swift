internal import Foundation
internal import Keyring

/// The items that a request is about.
struct SecItemSearch {
  let request: SecItemRequest
  let keyring: Keyring

  /// A certificate and its private key.
  struct Identity {
    let certificate: ItemRecord
    let key: ItemRecord
  }

  /// The items, in the order of their creation, as many as the request's limit lets through.
  ///
  /// - Parameter limit: What counts where the request says nothing.
  /// - Throws: `errSecItemNotFound` when there is none.
  func records(limit: Query.Limit) throws(SecItemFailure) -> [ItemRecord] {
    guard let itemClass = request.itemClass else { throw SecItemFailure(errSecInternalComponent) }
    var records = try find(itemClass, request.attributes)
    if let list = request.itemList { records.removeAll { !list.contains($0) } }
    records.removeAll { !request.matching.accepts($0) }
    if request.matching.needsCertificate, itemClass == .certificate {
      records = try accepted(records)
    }
    return try cut(records, limit)
  }

  /// The identities, in the order of the certificates' creation.
  func identities(limit: Query.Limit) throws(SecItemFailure) -> [Identity] {
    var certificates = try find(.certificate, part(.certificate))
    if request.matching.needsCertificate { certificates = try accepted(certificates) }
    let keys = try find(.key, part(.key)).filter { $0.attributes[.keyClass] == .integer(1) }
    var identities: [Identity] = []
    for certificate in certificates {
      guard let hash = certificate.attributes[.publicKeyHash] else { continue }
      guard let key = keys.first(where: { $0.attributes[.applicationLabel]?.isSame(as: hash) == true }) else {
        continue
      }
      let identity = Identity(certificate: certificate, key: key)
      if let list = request.itemList, !list.contains(certificate) { continue }
      identities.append(identity)
    }
    if let wanted = request.reference as? SecIdentity {
      let serial = wanted.certificate.itemAttributes
      identities.removeAll { identity in
        [.issuer, .serialNumber].contains { (name: AttributeName) in
          identity.certificate.attributes[name] != serial[name]
        }
      }
    }
    return try cut(identities, limit)
  }

  private func cut<T>(_ found: [T], _ limit: Query.Limit) throws(SecItemFailure) -> [T] {
    guard !found.isEmpty else { throw SecItemFailure(errSecItemNotFound) }
    return switch request.limit ?? limit {
    case .one: Array(found.prefix(1))
    case .count(let count): Array(found.prefix(count))
    case .all: found
    }
  }

  /// Those attributes of an identity that one of its parts has: the certificate's where both have them, as they are
  /// returned.
  private func part(_ itemClass: ItemClass) -> Attributes {
    var part = Attributes()
    for entry in request.attributes.entries {
      let isOfCertificate = AttributeSchema.applies(entry.name, to: .certificate)
      if isOfCertificate == (itemClass == .certificate) { part[entry.name] = entry.value }
    }
    return part
  }

  private func find(_ itemClass: ItemClass, _ attributes: Attributes) throws(SecItemFailure) -> [ItemRecord] {
    var predicates = attributes.entries.map { entry in
      Predicate.equal(entry.name, entry.value, ignoresCase: request.matching.ignoresCase)
    }
    if let reference = request.persistentReference {
      guard reference.itemClass == itemClass else { return [] }
      predicates.append(.id(reference.id))
    } else {
      switch request.synchronizable {
      case .no: predicates.append(.equal(.synchronizable, .boolean(false)))
      case .yes: predicates.append(.equal(.synchronizable, .boolean(true)))
      case .any: break
      }
    }
    if !request.isIdentity || itemClass == .certificate {
      if let control = request.accessControl {
        predicates.append(.equal(.accessControl, .bytes(control.serialized)))
      }
      if let created = request.created { predicates.append(.equal(.created, created)) }
      if let modified = request.modified { predicates.append(.equal(.modified, modified)) }
    }
    let groups = keyring.policy.groups
    if let group = request.group {
      guard groups[group] != nil else { throw SecItemFailure(errSecMissingEntitlement) }
      predicates.append(.equal(.group, .string(group)))
    }
    let query = Query(itemClass: itemClass, predicates: predicates, limit: .all)
    let matches = try keyringStatus { () throws(KeyringError) in try keyring.find(query) }
    // An item in a group that nobody accepted is not there.
    return matches.items.filter { groups[$0.group] != nil }
  }

  /// Certificates are sealed as everything is, so what their content says costs a decryption each.
  private func accepted(_ records: [ItemRecord]) throws(SecItemFailure) -> [ItemRecord] {
    var accepted: [ItemRecord] = []
    for record in records {
      let data = try SecItemResults.data(of: record, in: keyring)
      if let certificate = SecCertificate(der: data), request.matching.accepts(certificate) {
        accepted.append(record)
      }
    }
    return accepted
  }
}
