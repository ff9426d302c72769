import Foundation
import Testing

/// A file of `fixtures/secitem/certificates` with the values that OpenSSL printed.
struct CertificateFixture: CustomTestStringConvertible {
  var name: String
  var version: Int64 = 3
  var serial: [UInt8]
  var summary: String
  var commonName: String?
  var mailAddresses: [String] = []
  var hasKeyID = true
  var end = "2049-12-31T23:59:59Z"
  var isRSA = false
  var isSelfSigned = true

  var testDescription: String { name }

  /// SHA-1 of the bits of the public key. The subject key identifier is the same, if there is one.
  var keyHash: [UInt8] {
    isRSA
      ? [
        0xCD, 0xCA, 0x0A, 0xC4, 0x9F, 0x46, 0xE7, 0xD8, 0x7C, 0x16, 0xA4, 0x0F, 0xED, 0x64, 0x9A, 0xCA, 0x34,
        0x89, 0x1E, 0x5E,
      ]
      : [
        0xF0, 0x0A, 0x49, 0x47, 0x2F, 0x75, 0x19, 0x33, 0x60, 0x7F, 0x21, 0x34, 0x2C, 0x1C, 0x36, 0x72, 0xEA,
        0x3D, 0x4A, 0x34,
      ]
  }

  static let all = [
    CertificateFixture(
      name: "rsa-2048.der", serial: [1], summary: "Alice Example", commonName: "Alice Example",
      mailAddresses: ["alice@example.org", "root@example.org"], isRSA: true),
    CertificateFixture(
      name: "ec-p256.der", serial: [2], summary: "ec.example.org", commonName: "ec.example.org",
      end: "2099-12-31T23:59:59Z"),
    CertificateFixture(
      name: "version-1.der", version: 1, serial: [3], summary: "Version One", commonName: "Version One",
      hasKeyID: false),
    CertificateFixture(
      name: "long-serial.der",
      serial: [
        0, 0xF0, 0xE1, 0xD2, 0xC3, 0xB4, 0xA5, 0x96, 0x87, 0x78, 0x69, 0x5A, 0x4B, 0x3C, 0x2D, 0x1E, 0x0F, 0,
        0x11, 0x22, 0x33,
      ], summary: "Long Serial", commonName: "Long Serial"),
    CertificateFixture(
      name: "utf8-names.der", serial: [5], summary: "鍵 🔑 é", commonName: "鍵 🔑 é"),
    CertificateFixture(
      name: "no-common-name.der", serial: [6], summary: "Keys without Names", commonName: nil),
    CertificateFixture(
      name: "no-subject.der", serial: [7], summary: "only.example.org", commonName: nil, hasKeyID: false,
      isSelfSigned: false),
  ]

  static func bytes(_ name: String) throws -> Data {
    let root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    return try Data(contentsOf: root.appendingPathComponent("fixtures/secitem/certificates/\(name)"))
  }
}
