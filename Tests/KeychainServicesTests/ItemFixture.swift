import Foundation
import Testing

@testable import KeychainServices

/// A certificate, its private key, and the identity of both, as objects.
struct ItemFixture {
  let certificate: SecCertificate
  let key: SecKey
  var identity: SecIdentity { SecIdentity(certificate: certificate, key: key) }

  init() throws {
    let kind = [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPrivate]
    let bytes = try CertificateFixture.bytes("ec-p256-private.x963")
    let madeKey = SecKeyCreateWithData(bytes as CFData, kind as CFDictionary, nil)
    key = try #require(madeKey)
    let der = try CertificateFixture.bytes("ec-p256.der")
    certificate = try #require(SecCertificateCreateWithData(nil, der as CFData))
  }
}
