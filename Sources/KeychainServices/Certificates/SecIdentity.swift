public import Foundation

/// A certificate together with the private key that belongs to it.
///
/// Identities are not stored: an identity is composed of a certificate and a key with the same public key. Two
/// identities are equal if both parts are equal.
public final class SecIdentity: NSObject, CoreFoundationType, @unchecked Sendable {
  // Unchecked because of NSObject; all properties are constant.
  static let typeID: CFTypeID = 0x4B03

  let certificate: SecCertificate
  let key: SecKey

  /// Creates an identity from its two parts.
  ///
  /// - Parameters:
  ///   - certificate: The certificate.
  ///   - key: The private key; the caller has checked that both have the same public key hash.
  init(certificate: SecCertificate, key: SecKey) {
    self.certificate = certificate
    self.key = key
  }

  /// Returns true if the other object has the same certificate and the same key.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? SecIdentity else { return false }
    return certificate.isEqual(other.certificate) && key.isEqual(other.key)
  }

  /// The hash value, which is the same for equal identities.
  public override var hash: Int { certificate.hash }

  /// The type of the object and a summary of the certificate's subject.
  public override var description: String { "<SecIdentity: \(certificate.subjectSummary)>" }
}

/// Copies the certificate of an identity.
///
/// - Parameters:
///   - identityRef: Any identity.
///   - certificateRef: Receives the certificate.
/// - Returns: Always `errSecSuccess`.
public func SecIdentityCopyCertificate(
  _ identityRef: SecIdentity, _ certificateRef: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
  unsafe certificateRef.pointee = identityRef.certificate
  return errSecSuccess
}

/// Copies the private key of an identity.
///
/// - Parameters:
///   - identityRef: Any identity.
///   - privateKeyRef: Receives the key.
/// - Returns: Always `errSecSuccess`.
public func SecIdentityCopyPrivateKey(
  _ identityRef: SecIdentity, _ privateKeyRef: UnsafeMutablePointer<SecKey?>
) -> OSStatus {
  unsafe privateKeyRef.pointee = identityRef.key
  return errSecSuccess
}

/// Returns the type ID of identities.
public func SecIdentityGetTypeID() -> CFTypeID {
  SecIdentity.typeID
}
