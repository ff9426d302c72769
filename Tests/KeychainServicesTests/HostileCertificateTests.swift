import Encoding
import Foundation
import KeyringModel
import Testing

@testable import KeychainServices

/// Tests that untrusted bytes never trap: they are a certificate or a key, or they are refused.
@Suite(.serialized)
struct HostileCertificateTests {
  /// Generates the same numbers in every run (xorshift64*).
  struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state ^= state >> 12
      state ^= state << 25
      state ^= state >> 27
      return state &* 0x2545_F491_4F6C_DD1D
    }
  }

  /// Reads all values of a certificate. Returns false if the bytes are not a certificate.
  private func readAll(_ der: Data) -> Bool {
    guard let certificate = SecCertificate(der: der) else { return false }
    _ = certificate.itemAttributes
    _ = certificate.validity
    _ = certificate.emailAddresses
    _ = certificate.description
    _ = certificate.publicKey?.itemAttributes
    return true
  }

  @Test(arguments: ["rsa-2048.der", "ec-p256.der", "no-subject.der"])
  func `a truncated certificate is refused`(name: String) throws {
    let der = try CertificateFixture.bytes(name)
    for count in 0..<der.count { #expect(!readAll(der.prefix(count)), "\(count) bytes") }
    #expect(readAll(der))
  }

  @Test(arguments: ["rsa-2048.der", "ec-p256.der", "no-subject.der"])
  func `flipped bits in a certificate never trap`(name: String) throws {
    let der = try CertificateFixture.bytes(name)
    var generator = Seeded(state: 0x9E37_79B9_7F4A_7C15)
    var accepted = 0
    for _ in 0..<2000 {
      var changed = der
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        changed[Int.random(in: 0..<der.count, using: &generator)] ^=
          1 << UInt8.random(in: 0..<8, using: &generator)
      }
      if readAll(changed) { accepted += 1 }
    }
    // Most bits belong to names, keys and signatures, which are not checked here. Changes of other bits must be
    // refused.
    #expect((1..<2000).contains(accepted))
  }

  @Test func `additional bytes around a certificate are refused`() throws {
    let der = try CertificateFixture.bytes("ec-p256.der")
    #expect(!readAll(der + [0]))
    #expect(!readAll(der + der))
    #expect(!readAll(Data([0]) + der))
    #expect(!readAll(Data(der.base64EncodedString().utf8)))
  }

  @Test(
    arguments: [
      [], [0x30], [0x30, 0x80], [0x30, 0x80, 0, 0], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
      [0x30, 0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x30, 0xFF], [0x1F, 0x81, 0x01, 0],
      [0x30, 0x81, 0x00], [0x30, 0x82, 0x00, 0x80], [0x30, 0x00],
    ] as [[UInt8]])
  func `wrong lengths are refused`(bytes: [UInt8]) {
    #expect(!readAll(Data(bytes)))
    var reader = DERReader(bytes[...])
    let element = reader.next()
    #expect(element == nil || bytes == [0x30, 0x00])
  }

  @Test func `deep nesting is refused`() {
    var bytes: [UInt8] = []
    for _ in 0..<2000 { bytes = DER.encode(DER.sequence, bytes) }
    #expect(!readAll(Data(bytes)))
    #expect(SecCertificate.normalizedName(bytes) == nil)
  }

  @Test func `a changed or truncated key never traps`() throws {
    let der = try CertificateFixture.bytes("rsa-2048-private.pkcs1")
    let record: Attributes = [.keyType: 42, .keyClass: 1]
    for count in 0..<der.count { #expect(SecKey(record: record, data: der.prefix(count)) == nil) }
    #expect(SecKey(record: record, data: der + [0]) == nil)
    var generator = Seeded(state: 7)
    for _ in 0..<2000 {
      var changed = der
      changed[Int.random(in: 0..<der.count, using: &generator)] ^=
        1 << UInt8.random(in: 0..<8, using: &generator)
      _ = SecKey(record: record, data: changed)?.itemAttributes
    }
  }
}
