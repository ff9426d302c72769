import Encoding
import Foundation
import KeyringModel
import Testing

@testable import KeychainServices

/// Tests that certificates have the values that OpenSSL reads in them.
@Suite(.serialized)
struct CertificateTests {
  private func certificate(_ name: String) throws -> SecCertificate {
    try #require(SecCertificateCreateWithData(nil, CertificateFixture.bytes(name) as CFData))
  }

  @Test(arguments: CertificateFixture.all)
  func `the attributes of the item match the certificate`(fixture: CertificateFixture) throws {
    let attributes = try certificate(fixture.name).itemAttributes
    #expect(attributes[.certificateType] == .integer(fixture.version))
    #expect(attributes[.certificateEncoding] == 3)
    #expect(attributes[.serialNumber] == .bytes(fixture.serial))
    #expect(attributes[.publicKeyHash] == .bytes(fixture.keyHash))
    #expect(attributes[.subjectKeyID] == (fixture.hasKeyID ? .bytes(fixture.keyHash) : nil))
    #expect(attributes[.label] == .string(fixture.summary))
    #expect((attributes[.subject] == attributes[.issuer]) == fixture.isSelfSigned)
    #expect(throws: Never.self) { try AttributeSchema.check(attributes, class: .certificate) }
  }

  @Test(arguments: CertificateFixture.all)
  func `Apple's functions return the same values`(fixture: CertificateFixture) throws {
    let certificate = try certificate(fixture.name)
    #expect(SecCertificateCopyData(certificate) as Data == (try CertificateFixture.bytes(fixture.name)))
    #expect(SecCertificateCopySubjectSummary(certificate) as String? == fixture.summary)
    let (serial, _) = takingError { unsafe SecCertificateCopySerialNumberData(certificate, $0) as Data? }
    #expect(serial == Data(fixture.serial))
    var name: CFString?
    let status = unsafe SecCertificateCopyCommonName(certificate, &name)
    #expect(name as String? == fixture.commonName)
    #expect(status == (fixture.commonName == nil ? errSecDataNotAvailable : errSecSuccess))
    var addresses: CFArray?
    let addressStatus = unsafe SecCertificateCopyEmailAddresses(certificate, &addresses)
    #expect(addressStatus == errSecSuccess)
    #expect(addresses as? [String] == fixture.mailAddresses)
    #expect(CFGetTypeID(certificate) == SecCertificateGetTypeID())
  }

  @Test(arguments: CertificateFixture.all)
  func `validity is read in both formats of time`(fixture: CertificateFixture) throws {
    let format = ISO8601DateFormatter()
    let validity = try #require(try certificate(fixture.name).validity)
    #expect(format.string(from: validity.lowerBound) == "2024-01-02T03:04:05Z")
    #expect(format.string(from: validity.upperBound) == fixture.end)
  }

  @Test(arguments: CertificateFixture.all)
  func `the public key matches the private key`(fixture: CertificateFixture) throws {
    let key = try #require(SecCertificateCopyKey(try certificate(fixture.name)))
    #expect(key.publicKeyHash == fixture.keyHash)
    #expect(key.material.keyClass == .publicKey)
    #expect(key.material.bits == (fixture.isRSA ? 2048 : 256))
    guard fixture.isRSA else { return }
    #expect(key.externalRepresentation == (try CertificateFixture.bytes("rsa-2048-public.pkcs1")))
  }

  @Test func `printable names are compared in upper case with single spaces`() throws {
    let certificate = try certificate("rsa-2048.der")
    let expected =
      "306e310b300906035504061302444531163014060355040a130d4558414d504c4520574f524b53310d300b060355040b1304"
      + "4b455953311630140603550403130d414c494345204558414d504c453120301e06092a864886f70d0109011611616c6963"
      + "65406578616d706c652e6f7267"
    let issuer = try #require(SecCertificateCopyNormalizedIssuerSequence(certificate)) as Data
    #expect(issuer.map { String(format: "%02x", $0) }.joined() == expected)
    #expect(SecCertificateCopyNormalizedSubjectSequence(certificate) as Data? == issuer)
    #expect(certificate.issuerSequence == issuer)
    #expect(SecCertificate.normalizedName(issuer) == Array(issuer))
  }

  @Test func `other types of text are unchanged in a normalised name`() throws {
    let der = Array(try CertificateFixture.bytes("utf8-names.der"))
    let issuer = Array(try certificate("utf8-names.der").issuerSequence)
    #expect(der.indices.contains { der[$0...].starts(with: issuer) })
  }

  @Test(
    arguments: [
      (DER.printableString, Array("a B".utf8), "a B"),
      (DER.teletexString, [0x47, 0xF6], "Gö"),
      (DER.bmpString, [0x04, 0x1A, 0x00, 0x41], "КA"),
      (DER.bmpString, [0xD8, 0x3D, 0xDD, 0x11], "🔑"),
      (DER.bmpString, [0xD8, 0x3D], nil),
      (DER.bmpString, [0x04], nil),
      (DER.universalString, [0x00, 0x01, 0xF5, 0x11], "🔑"),
      (DER.universalString, [0x00, 0x11, 0x00, 0x00], nil),
      (DER.utf8String, [0xC3, 0x28], nil),
      (DER.ia5String, [0xE9], nil),
      (DER.octetString, [0x41], nil),
    ] as [(UInt8, [UInt8], String?)])
  func `the text of a name may have any of the string types`(tag: UInt8, value: [UInt8], text: String?) throws
  {
    let type = DER.encode(DER.objectIdentifier, DistinguishedName.PartType.commonName)
    let pair = DER.encode(DER.sequence, type + DER.encode(tag, value))
    let der = DER.encode(DER.sequence, DER.encode(DER.set, pair))
    let name = try #require(DistinguishedName(der: der))
    #expect(name.text(of: DistinguishedName.PartType.commonName) == text)
  }

  @Test func `certificates with the same bytes are equal`() throws {
    let first = try certificate("ec-p256.der")
    let second = try certificate("ec-p256.der")
    let other = try certificate("version-1.der")
    #expect(first == second && first.hash == second.hash)
    #expect(first != other)
    #expect([first: 1][second] == 1)
    #expect(([kSecValueRef: first] as CFDictionary)[kSecValueRef] as? SecCertificate == second)
  }

  @Test func `an identity returns its certificate and its key`() throws {
    let certificate = try certificate("rsa-2048.der")
    let attributes = [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPrivate]
    let bytes = try CertificateFixture.bytes("rsa-2048-private.pkcs1")
    let (made, _) = takingError {
      unsafe SecKeyCreateWithData(bytes as CFData, attributes as CFDictionary, $0)
    }
    let key = try #require(made)
    #expect(certificate.publicKeyHash == key.publicKeyHash)
    let identity = SecIdentity(certificate: certificate, key: key)
    var foundCertificate: SecCertificate?
    var foundKey: SecKey?
    let certificateStatus = unsafe SecIdentityCopyCertificate(identity, &foundCertificate)
    let keyStatus = unsafe SecIdentityCopyPrivateKey(identity, &foundKey)
    #expect(certificateStatus == errSecSuccess && keyStatus == errSecSuccess)
    #expect(foundCertificate == certificate && foundKey == key)
    #expect(identity == SecIdentity(certificate: certificate, key: key))
  }

  @Test func `types have different type ids`() throws {
    let own = [
      SecCertificateGetTypeID(), SecKeyGetTypeID(), SecIdentityGetTypeID(), SecAccessControlGetTypeID(),
    ]
    #expect(Set(own).count == 4)
    #expect(own.allSatisfy { CoreFoundationTypeID(rawValue: $0) == nil && $0 != 0 })
  }

  @Test func `PKCS#12 is reported as not implemented`() {
    var items: CFArray? = [1]
    let options = [kSecImportExportPassphrase: "x"] as CFDictionary
    let status = unsafe SecPKCS12Import(Data() as CFData, options, &items)
    #expect(status == errSecUnimplemented)
    #expect(items == nil)
  }
}
