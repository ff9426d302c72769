internal import CKsba
internal import Encoding
public import Foundation
internal import KeyringModel

/// An X.509 certificate.
///
/// Two certificates are equal if their DER is equal. The whole certificate is read when it is created and never changes
/// afterwards.
public final class SecCertificate: NSObject, CoreFoundationType, @unchecked Sendable {
  // Unchecked because of NSObject; all properties are constant.
  static let typeID: CFTypeID = 0x4B01

  private let data: Data
  let certificate: X509Certificate

  /// Reads a certificate.
  ///
  /// - Parameter data: The DER of the certificate with no bytes after it. Anything else yields nil.
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

  /// The hash value, which is the same for equal certificates.
  public override var hash: Int { data.hashValue }

  /// The type of the object and a summary of the certificate's subject.
  public override var description: String { "<SecCertificate: \(subjectSummary)>" }
}

// MARK: Keychain attributes

extension SecCertificate {
  /// The attributes that a store keeps beside the DER, without those for which the certificate has no value.
  ///
  /// Subject and issuer are the complete DER of the normalised names, so that a query can use the result of
  /// ``SecCertificateCopyNormalizedIssuerSequence(_:)``.
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

  /// The validity period; nil (never valid) if its dates are damaged or in the wrong order.
  var validity: ClosedRange<Date>? { certificate.validity }

  /// The DER of the issuer's normalised name.
  var issuerSequence: Data { Data(certificate.issuer.normalized) }

  /// The SHA-1 of the bits of the public key, which is the application label of that key and of its private key.
  var publicKeyHash: [UInt8] { SHA1.digest(of: certificate.publicKey) }

  /// The common name; nil without one.
  var commonName: String? { certificate.subject.text(of: DistinguishedName.PartType.commonName) }

  /// The email addresses: those of the alternative names, then those of the subject, without duplicates.
  var emailAddresses: [String] {
    let subject = certificate.subject.texts(of: DistinguishedName.PartType.emailAddress)
    var seen: Set<String> = []
    return (certificate.alternativeMailAddresses + subject).filter { seen.insert($0).inserted }
  }

  /// A one-line summary of the subject: the common name, or else the organisational unit, the organisation, an email
  /// address, any text of the subject, or a host name; empty if there is none of these.
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

  /// Returns the normalised form of a name.
  ///
  /// - Parameter der: The DER of a name, such as the issuer or the subject in a query.
  /// - Returns: The DER of the normalised name; nil if the bytes are not a name.
  static func normalizedName(_ der: some Collection<UInt8>) -> [UInt8]? {
    DistinguishedName(der: der)?.normalized
  }
}

// MARK: Apple's functions

/// Reads a certificate.
///
/// - Parameters:
///   - allocator: Not used.
///   - data: The DER of one X.509 certificate with no bytes after it.
/// - Returns: The certificate, or nil if the data is anything else. PEM has to be decoded first.
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
  SecCertificate(der: data as Data)
}

/// Returns the DER of a certificate, byte for byte as it was read.
///
/// - Parameter certificate: Any certificate.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
  certificate.der as CFData
}

/// Returns a one-line summary of the subject of a certificate.
///
/// - Parameter certificate: Any certificate.
/// - Returns: The common name, or else the organisational unit, the organisation, an email address, any other text of
///   the subject, or a host name; nil if there is none of these.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
  certificate.subjectSummary.isEmpty ? nil : certificate.subjectSummary as CFString
}

/// Copies the common name of a certificate's subject.
///
/// - Parameters:
///   - certificate: Any certificate.
///   - commonName: Receives the name, the last one if there are several; nil on failure.
/// - Returns: `errSecSuccess`, or `errSecDataNotAvailable` when there is no common name.
public func SecCertificateCopyCommonName(
  _ certificate: SecCertificate, _ commonName: UnsafeMutablePointer<CFString?>
) -> OSStatus {
  unsafe commonName.pointee = certificate.commonName as CFString?
  return certificate.commonName == nil ? errSecDataNotAvailable : errSecSuccess
}

/// Copies the email addresses of a certificate's subject.
///
/// - Parameters:
///   - certificate: Any certificate.
///   - emailAddresses: Receives an array of strings: those of the alternative names, then those of the subject.
/// - Returns: `errSecSuccess`, even if the array is empty.
public func SecCertificateCopyEmailAddresses(
  _ certificate: SecCertificate, _ emailAddresses: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
  unsafe emailAddresses.pointee = certificate.emailAddresses as CFArray
  return errSecSuccess
}

/// Returns the serial number of a certificate.
///
/// - Parameters:
///   - certificate: Any certificate.
///   - error: Never set; every certificate has a serial number.
/// - Returns: The bytes of the number as the certificate contains it, in big-endian order; the first byte may be zero.
public func SecCertificateCopySerialNumberData(
  _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
  Data(certificate.certificate.serialNumber) as CFData
}

/// Returns the issuer of a certificate in the form in which names are compared and which `kSecMatchIssuers` accepts.
///
/// - Parameter certificate: Any certificate.
/// - Returns: The DER of the name. Parts of type PrintableString are in upper case, with single spaces.
public func SecCertificateCopyNormalizedIssuerSequence(_ certificate: SecCertificate) -> CFData? {
  certificate.issuerSequence as CFData
}

/// Returns the subject of a certificate in the form in which names are compared.
///
/// - Parameter certificate: Any certificate.
/// - Returns: The DER of the name. Parts of type PrintableString are in upper case, with single spaces.
public func SecCertificateCopyNormalizedSubjectSequence(_ certificate: SecCertificate) -> CFData? {
  Data(certificate.certificate.subject.normalized) as CFData
}

/// Returns the public key of a certificate.
///
/// - Parameter certificate: Any certificate.
/// - Returns: The key; nil if its algorithm is neither RSA nor an elliptic curve, or if its bits are damaged.
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
  certificate.publicKey
}

/// Returns the type ID of certificates.
public func SecCertificateGetTypeID() -> CFTypeID {
  SecCertificate.typeID
}
