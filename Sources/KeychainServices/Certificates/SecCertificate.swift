internal import CKsba
internal import Encoding
public import Foundation
internal import KeyringModel

/// An X.509 certificate.
///
/// Two are equal when their DER is. All of it is read when it is made; after that it never changes.
public final class SecCertificate: NSObject, CoreFoundationType, @unchecked Sendable {
  // Unchecked, because of NSObject; everything here is constant.
  static let typeID: CFTypeID = 0x4B01

  private let data: Data
  let certificate: X509Certificate

  /// Reads a certificate.
  ///
  /// - Parameter data: Its DER and nothing behind it; nil comes of anything else.
  init?(der data: Data) {
    guard let certificate = X509Certificate(der: Array(data)) else { return nil }
    self.data = data
    self.certificate = certificate
  }

  /// The DER of the certificate.
  var der: Data { data }

  /// Returns true if the other object is a certificate with the same DER.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? SecCertificate)?.data == data
  }

  /// A number that equal certificates have in common.
  public override var hash: Int { data.hashValue }

  /// The kind of object and whom the certificate is for.
  public override var description: String { "<SecCertificate: \(subjectSummary)>" }
}

// MARK: What a keychain knows about it

extension SecCertificate {
  /// The attributes that a store keeps beside the DER, without those for which the certificate has no value.
  ///
  /// Subject and issuer are DER of the normalised names, whole, so that what
  /// ``SecCertificateCopyNormalizedIssuerSequence(_:)`` answers can be searched for.
  var itemAttributes: Attributes {
    var attributes: Attributes = [
      .certificateType: .integer(Int64(certificate.version)),
      // CSSM's number for DER.
      .certificateEncoding: 3,
      .subject: .bytes(certificate.subject.normalized),
      .issuer: .bytes(certificate.issuer.normalized),
      .serialNumber: .bytes(certificate.serialNumber),
      .publicKeyHash: .bytes(publicKeyHash),
    ]
    attributes[.subjectKeyID] = certificate.subjectKeyID.map(AttributeValue.bytes)
    if !subjectSummary.isEmpty { attributes[.label] = .string(subjectSummary) }
    return attributes
  }

  /// From when to when it is valid; nil, which is never, when its dates are damaged or in the wrong order.
  var validity: ClosedRange<Date>? { certificate.validity }

  /// DER of the issuer's normalised name.
  var issuerSequence: Data { Data(certificate.issuer.normalized) }

  /// SHA-1 of the bits of the public key; the application label of that key and of its private key.
  var publicKeyHash: [UInt8] { SHA1.digest(of: certificate.publicKey) }

  /// The common name; nil without one.
  var commonName: String? { certificate.subject.text(of: DistinguishedName.PartType.commonName) }

  /// Mail addresses: those of the alternative names, then those of the subject; each one once.
  var emailAddresses: [String] {
    let subject = certificate.subject.texts(of: DistinguishedName.PartType.emailAddress)
    var seen: Set<String> = []
    return (certificate.alternativeMailAddresses + subject).filter { seen.insert($0).inserted }
  }

  /// One line about whom it is for: common name, else organisational unit, organisation, mail address, any text
  /// of the subject, host name; empty when it says nothing at all.
  var subjectSummary: String {
    let subject = certificate.subject
    let candidates =
      [
        commonName, subject.text(of: DistinguishedName.PartType.organizationalUnit),
        subject.text(of: DistinguishedName.PartType.organization), emailAddresses.first,
      ] + subject.parts.reversed().map(\.text) + [certificate.hostNames.first]
    return candidates.lazy.compactMap { $0 }.first { !$0.isEmpty } ?? ""
  }

  /// The public key; nil for algorithms other than RSA and elliptic curves over prime fields.
  var publicKey: SecKey? {
    let type: KeyMaterial.KeyType
    switch certificate.keyAlgorithm {
    case [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]: type = .rsa
    case [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]: type = .ellipticCurve
    default: return nil
    }
    return unsafe certificate.publicKey.withUnsafeBytes {
      unsafe SecKey(type: type, keyClass: .publicKey, bytes: $0)
    }
  }

  /// Brings a name to the form in which certificates keep theirs.
  ///
  /// - Parameter der: DER of a name, as a query for an issuer or subject holds it.
  /// - Returns: DER of the normalised name; nil when it is no name.
  static func normalizedName(_ der: some Collection<UInt8>) -> [UInt8]? {
    DistinguishedName(der: der)?.normalized
  }
}

// MARK: Apple's functions

/// Reads a certificate.
///
/// - Parameters:
///   - allocator: Not used.
///   - data: The DER of one X.509 certificate and nothing behind it.
/// - Returns: The certificate, or nil when the data is anything else. PEM has to be decoded first.
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
  SecCertificate(der: data as Data)
}

/// The DER of a certificate, byte for byte as it was read.
///
/// - Parameter certificate: Any certificate.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
  certificate.der as CFData
}

/// One line that tells people whom a certificate is for.
///
/// - Parameter certificate: Any certificate.
/// - Returns: The common name, else the organisational unit, the organisation, a mail address, any other text of
///   the subject, or a host name; nil when there is none of these.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
  certificate.subjectSummary.isEmpty ? nil : certificate.subjectSummary as CFString
}

/// The common name of a certificate's subject.
///
/// - Parameters:
///   - certificate: Any certificate.
///   - commonName: Receives the name, the last one when there are several; nil on failure.
/// - Returns: `errSecSuccess`, or `errSecDataNotAvailable` when there is no common name.
public func SecCertificateCopyCommonName(
  _ certificate: SecCertificate, _ commonName: UnsafeMutablePointer<CFString?>
) -> OSStatus {
  unsafe commonName.pointee = certificate.commonName as CFString?
  return certificate.commonName == nil ? errSecDataNotAvailable : errSecSuccess
}

/// The mail addresses of a certificate's subject.
///
/// - Parameters:
///   - certificate: Any certificate.
///   - emailAddresses: Receives an array of strings: those of the alternative names, then those of the subject.
/// - Returns: `errSecSuccess`, also when the array is empty.
public func SecCertificateCopyEmailAddresses(
  _ certificate: SecCertificate, _ emailAddresses: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
  unsafe emailAddresses.pointee = certificate.emailAddresses as CFArray
  return errSecSuccess
}

/// The serial number of a certificate.
///
/// - Parameters:
///   - certificate: Any certificate.
///   - error: Never set; every certificate has a serial number.
/// - Returns: The content of the number as the certificate holds it, biggest byte first; a zero byte may stand in
///   front.
public func SecCertificateCopySerialNumberData(
  _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
  Data(certificate.certificate.serialNumber) as CFData
}

/// The issuer of a certificate in the form in which names are compared, and which `kSecMatchIssuers` takes.
///
/// - Parameter certificate: Any certificate.
/// - Returns: DER of the name. Parts of type PrintableString are in upper case, with single spaces.
public func SecCertificateCopyNormalizedIssuerSequence(_ certificate: SecCertificate) -> CFData? {
  certificate.issuerSequence as CFData
}

/// The subject of a certificate in the form in which names are compared.
///
/// - Parameter certificate: Any certificate.
/// - Returns: DER of the name. Parts of type PrintableString are in upper case, with single spaces.
public func SecCertificateCopyNormalizedSubjectSequence(_ certificate: SecCertificate) -> CFData? {
  Data(certificate.certificate.subject.normalized) as CFData
}

/// The public key of a certificate.
///
/// - Parameter certificate: Any certificate.
/// - Returns: The key; nil when its algorithm is neither RSA nor an elliptic curve, or its bits are damaged.
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
  certificate.publicKey
}

/// The number of the type of certificates.
public func SecCertificateGetTypeID() -> CFTypeID {
  SecCertificate.typeID
}
