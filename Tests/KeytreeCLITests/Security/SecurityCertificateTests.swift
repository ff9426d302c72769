import Foundation
import KeyringModel
import TestSupport
import Testing
@testable import KeytreeCLI
@testable import Personalities

@Suite("Certificates and keys under the name security", .serialized)
struct SecurityCertificateTests {
  private static func der(_ name: String) throws -> [UInt8] {
    let url = CareTranscriptTests.fixtures.appendingPathComponent("secitem/certificates/\(name)")
    return Array(try Data(contentsOf: url))
  }

  private func world() throws -> SecurityFixture {
    let world = try SecurityFixture.withoutGnuPG()
    try world.add(
      .certificate,
      [
        .certificateType: 3, .certificateEncoding: 3, .issuer: .bytes([1]), .serialNumber: .bytes([1]),
        .label: "Alice Example", .publicKeyHash: .bytes([7, 7]),
      ], try Self.der("rsa-2048.der"))
    try world.add(
      .certificate,
      [.certificateType: 3, .issuer: .bytes([1]), .serialNumber: .bytes([2]), .label: "ec.example.org"],
      try Self.der("ec-p256.der"))
    try world.add(
      .key,
      [
        .keyClass: 1, .applicationLabel: .bytes([7, 7]), .label: "key", .keyType: "42", .keySize: 2048,
        .canSign: true,
      ], [1, 2, 3])
    return world
  }

  @Test("certificates are found by name and by mail address, and printed as PEM and with their hashes")
  func certificates() throws {
    let world = try world()
    let first = world.security("find-certificate")
    #expect(first.status == 0)
    #expect(
      first.text.hasPrefix(
        "keychain: \"\(world.world.store)\"\nversion: 512\nclass: 0x80001000 \nattributes:\n"))
    #expect(first.value("\"labl\"") == "\"Alice Example\"")
    #expect(first.value("\"ctyp\"") == "0x00000003 ")
    let all = world.security("find-certificate", "-a").text
    #expect(all.components(separatedBy: "keychain: ").count == 3)
    #expect(world.security("find-certificate", "-c", "EXAMPLE.o").value("\"labl\"") == "\"ec.example.org\"")
    let none = world.security("find-certificate", "-c", "nobody")
    #expect(none.status == 44)
    #expect(none.talk == SecurityFixture.notFound)
    #expect(world.security("find-certificate", "-a", "-c", "nobody").status == 0)
    #expect(
      world.security("find-certificate", "-e", "ROOT@example.org").value("\"labl\"") == "\"Alice Example\"")
    #expect(world.security("find-certificate", "-e", "root@example.com").status == 44)
    let mails = world.security("find-certificate", "-m", "-c", "alice").text
    #expect(mails.hasPrefix("email addresses: alice@example.org, root@example.org\nkeychain: "))
    let base64 = Data(try Self.der("rsa-2048.der"))
      .base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
    #expect(
      world.security("find-certificate", "-p", "-c", "alice").text
        == "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n")
    // The expected hashes are those of sha256sum and sha1sum.
    #expect(
      world.security("find-certificate", "-Z", "-c", "alice").text.hasPrefix(
        """
        SHA-256 hash: C185B3E81BD3460E4C214E2C7AA24957169D38B6DCAC48786DAA49DC604ADF74
        SHA-1 hash: 541A32B96EF4BEC039A7A3B1C663D4821EE44625
        keychain:
        """))
  }

  @Test("a certificate is deleted if exactly one matches")
  func deletion() throws {
    let world = try world()
    let several = world.security("delete-certificate", "-c", "example")
    #expect(several.status == 1)
    #expect(several.talk.contains("ambiguous"))
    let none = world.security("delete-certificate", "-c", "nobody")
    #expect(none.status == 1)
    #expect(none.talk == "Unable to delete certificate matching \"nobody\"\n")
    let line = world.security("find-certificate", "-Z", "-c", "alice").text.split(separator: "\n")[1]
    let hash = line.split(separator: " ").last.map(String.init) ?? ""
    #expect(world.security("delete-certificate", "-Z", hash.lowercased()).status == 0)
    #expect(world.security("find-certificate", "-c", "alice").status == 44)
    #expect(world.security("delete-certificate", "-c", "ec.").status == 0)
    #expect(world.security("find-certificate").status == 44)
  }

  @Test("keys are found by their use, and joined with certificates to identities")
  func keys() throws {
    let world = try world()
    let key = world.security("find-key", "-s", "-t", "private")
    #expect(key.status == 0)
    #expect(key.text.contains("\nclass: 0x00000010 \n"))
    #expect(key.value("0x00000000 ") == "0x00000010 ")
    #expect(key.value("0x00000001 ") == "\"key\"")
    #expect(key.value("0x0000000A ") == "0x00000800 ")
    #expect(!key.text.contains("010203"))
    #expect(world.security("find-key", "-e").status == 44)
    #expect(world.security("find-key", "-t", "public").status == 44)
    #expect(world.security("set-key-partition-list", "-S", "apple:", "-k", "x", "-l", "key").status == 0)
    let identities = world.security("find-identity").text
    #expect(identities.contains("  Matching identities\n  1) "))
    #expect(identities.contains(" \"Alice Example\"\n     1 identities found\n"))
  }

  @Test("a damaged certificate has no mail addresses, wherever it is truncated")
  func damage() throws {
    let der = try Self.der("rsa-2048.der")
    #expect(CertificateContent(der: der).mailAddresses.count == 2)
    for length in 0..<der.count {
      #expect(CertificateContent(der: Array(der[..<length])).mailAddresses.isEmpty)
    }
    for index in der.indices {
      var changed = der
      changed[index] ^= 0x80
      _ = CertificateContent(der: changed).mailAddresses
    }
  }
}
