internal import Foundation
internal import Keyring

/// The `kSecMatch...` keys of a query, except for the limit.
struct SecItemMatching {
  static let validOnDate = "m_ValidOnDate"

  var ignoresCase = false
  /// A Boolean value that indicates whether only trusted certificates match.
  private(set) var needsTrust = false
  /// The options for comparing the subject of a certificate.
  private var subjectOptions: String.CompareOptions = []
  /// The conditions on the subject of a certificate.
  private var subjects: [(kind: SubjectMatch, text: String)] = []
  private var host: String?
  private var email: String?
  private var issuers: [Data]?
  private var validOn: Date?

  private enum SubjectMatch: String {
    case contains = "m_SubjectContains"
    case starts = "m_SubjectStartsWith"
    case ends = "m_SubjectEndsWith"
    case whole = "m_SubjectWholeString"
  }

  /// Reads one key.
  ///
  /// - Returns: True if it is one of these keys.
  mutating func read(_ key: String, _ value: Any) throws -> Bool {
    if let kind = SubjectMatch(rawValue: key) {
      guard let text = value as? String else { throw SecItemFailure.parameter }
      subjects.append((kind, text))
      return true
    }
    switch key {
    case "m_CaseInsensitive":
      ignoresCase = try SecItemRequest.flag(value)
      if ignoresCase { subjectOptions.insert(.caseInsensitive) }
    // For attributes, only case can be ignored; the other two options apply only to subjects.
    case "m_DiacriticInsensitive":
      if try SecItemRequest.flag(value) { subjectOptions.insert(.diacriticInsensitive) }
    case "m_WidthInsensitive": if try SecItemRequest.flag(value) { subjectOptions.insert(.widthInsensitive) }
    case "m_TrustedOnly": if try SecItemRequest.flag(value) { needsTrust = true }
    case "m_Policy": needsTrust = true
    case "m_SearchList": break
    case "m_HostOrSubdomainOfHost":
      guard let text = value as? String else { throw SecItemFailure.parameter }
      host = text.lowercased()
    case "m_EmailAddressIfPresent":
      guard let text = value as? String else { throw SecItemFailure.parameter }
      email = text.lowercased()
    case "m_Issuers":
      issuers = []
      for element in try UnbridgedList.elements(of: value) {
        guard let name = element as? Data else { throw SecItemFailure.parameter }
        issuers?.append(SecCertificate.normalizedName(name).map { Data($0) } ?? name)
      }
    case Self.validOnDate:
      if value is NSNull {
        validOn = Date()
      } else {
        guard let date = value as? Date else { throw SecItemFailure.parameter }
        validOn = date
      }
    default: return false
    }
    return true
  }

  /// A Boolean value that indicates whether the content of the certificate is needed.
  var needsCertificate: Bool { email != nil || issuers != nil || validOn != nil || !subjects.isEmpty }

  /// Returns true if an item's attributes meet the condition on its host.
  func accepts(_ record: ItemRecord) -> Bool {
    guard let host, record.itemClass == .internetPassword else { return true }
    guard let bytes = record.attributes[.server]?.contentBytes else { return false }
    let server = String(decoding: bytes, as: UTF8.self).lowercased()
    // The item's host is the requested host or a subdomain of it.
    return server == host || server.hasSuffix("." + host)
  }

  /// Returns true if a certificate meets the conditions.
  func accepts(_ certificate: SecCertificate) -> Bool {
    let name = certificate.commonName ?? certificate.subjectSummary
    for (kind, text) in subjects where !accepts(name, kind, text) { return false }
    if let email, !certificate.emailAddresses.isEmpty,
      !certificate.emailAddresses.contains(where: { $0.lowercased() == email })
    {
      return false
    }
    if let issuers, !issuers.contains(certificate.issuerSequence) { return false }
    if let validOn, certificate.validity?.contains(validOn) != true { return false }
    return true
  }

  private func accepts(_ name: String, _ kind: SubjectMatch, _ text: String) -> Bool {
    // Every text contains the empty text, although Foundation does not find it.
    if text.isEmpty { return kind != .whole || name.isEmpty }
    return switch kind {
    case .contains: name.range(of: text, options: subjectOptions) != nil
    case .starts: name.range(of: text, options: subjectOptions.union(.anchored)) != nil
    case .ends: name.range(of: text, options: subjectOptions.union([.anchored, .backwards])) != nil
    case .whole: name.compare(text, options: subjectOptions) == .orderedSame
    }
  }
}
