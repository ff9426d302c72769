public import Foundation

/// A certificate together with the private key that belongs to it.
///
/// Nothing of the kind is stored: it is made of a certificate and a key with the same public key. Two are equal
/// when both halves are.
public final class SecIdentity: NSObject, CoreFoundationType, @unchecked Sendable {
  // Unchecked, because of NSObject; everything here is constant.
  static let typeID: CFTypeID = 0x4B03

  let certificate: SecCertificate
  let key: SecKey

  /// Joins two halves.
  ///
  /// - Parameters:
  ///   - certificate: The certificate.
  ///   - key: Its private key; the caller has seen that their hashes are the same.
  init(certificate: SecCertificate, key: SecKey) {
    self.certificate = certificate
    self.key = key
  }

  /// Returns true if the other object has the same certificate and the same key.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? SecIdentity else { return false }
    return certificate.isEqual(other.certificate) && key.isEqual(other.key)
  }

  /// A number that equal identities have in common.
  public override var hash: Int { certificate.hash }

  /// The kind of object and whom the certificate is for.
  public override var description: String { "<SecIdentity: \(certificate.subjectSummary)>" }
}

/// The certificate of an identity.
///
/// - Parameters:
///   - identityRef: Any identity.
///   - certificateRef: Receives the certificate.
/// - Returns: `errSecSuccess`, always.
public func SecIdentityCopyCertificate(
  _ identityRef: SecIdentity, _ certificateRef: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
  unsafe certificateRef.pointee = identityRef.certificate
  return errSecSuccess
}

/// The private key of an identity.
///
/// - Parameters:
///   - identityRef: Any identity.
///   - privateKeyRef: Receives the key.
/// - Returns: `errSecSuccess`, always.
public func SecIdentityCopyPrivateKey(
  _ identityRef: SecIdentity, _ privateKeyRef: UnsafeMutablePointer<SecKey?>
) -> OSStatus {
  unsafe privateKeyRef.pointee = identityRef.key
  return errSecSuccess
}

/// The number of the type of identities.
public func SecIdentityGetTypeID() -> CFTypeID {
  SecIdentity.typeID
}
