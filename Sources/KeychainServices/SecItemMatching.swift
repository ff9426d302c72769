internal import Foundation
internal import Keyring

/// The `kSecMatch...` keys of a query, besides the limit.
struct SecItemMatching {
  static let validOnDate = "m_ValidOnDate"

  var ignoresCase = false
  /// How the subject of a certificate is compared, and with what.
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

  /// Takes one key.
  ///
  /// - Returns: Whether it is one of these.
  mutating func read(_ key: String, _ value: Any) throws(SecItemFailure) -> Bool {
    if let kind = SubjectMatch(rawValue: key) {
      guard let text = value as? String else { throw .parameter }
      subjects.append((kind, text))
      return true
    }
    switch key {
    case "m_CaseInsensitive": ignoresCase = try SecItemRequest.flag(value)
    // Forms of letters other than their case are not told apart in a certificate, and not joined elsewhere.
    case "m_DiacriticInsensitive", "m_WidthInsensitive", "m_TrustedOnly": _ = try SecItemRequest.flag(value)
    case "m_Policy", "m_SearchList": break
    case "m_HostOrSubdomainOfHost":
      guard let text = value as? String else { throw .parameter }
      host = text.lowercased()
    case "m_EmailAddressIfPresent":
      guard let text = value as? String else { throw .parameter }
      email = text.lowercased()
    case "m_Issuers":
      issuers = []
      for element in try PlainList.elements(of: value) {
        guard let name = element as? Data else { throw .parameter }
        issuers?.append(SecCertificate.normalizedName(name).map { Data($0) } ?? name)
      }
    case Self.validOnDate:
      if value is NSNull {
        validOn = Date()
      } else {
        guard let date = value as? Date else { throw .parameter }
        validOn = date
      }
    default: return false
    }
    return true
  }

  /// Whether only the content of a certificate can tell.
  var needsCertificate: Bool { email != nil || issuers != nil || validOn != nil || !subjects.isEmpty }

  /// Whether an item's attributes fulfil what is asked of its host.
  func accepts(_ record: ItemRecord) -> Bool {
    guard let host, record.itemClass == .internetPassword else { return true }
    guard let bytes = record.attributes[.server]?.contentBytes else { return false }
    let server = String(decoding: bytes, as: UTF8.self).lowercased()
    // The item's host is the one that was asked for, or lies below it.
    return server == host || server.hasSuffix("." + host)
  }

  /// Whether a certificate fulfils what is asked of it.
  func accepts(_ certificate: SecCertificate) -> Bool {
    let name = certificate.commonName ?? certificate.subjectSummary
    for (kind, text) in subjects where !Self.accepts(name, kind, text, ignoresCase) { return false }
    if let email, !certificate.emailAddresses.isEmpty,
      !certificate.emailAddresses.contains(where: { $0.lowercased() == email })
    {
      return false
    }
    if let issuers, !issuers.contains(certificate.issuerSequence) { return false }
    if let validOn, certificate.validity?.contains(validOn) != true { return false }
    return true
  }

  private static func accepts(_ name: String, _ kind: SubjectMatch, _ text: String, _ ignoresCase: Bool)
    -> Bool
  {
    let (name, text) = ignoresCase ? (name.lowercased(), text.lowercased()) : (name, text)
    return switch kind {
    case .contains: name.contains(text)
    case .starts: name.hasPrefix(text)
    case .ends: name.hasSuffix(text)
    case .whole: name == text
    }
  }
}
