import Foundation
import KeyringModel
import TestSupport
import Testing

@testable import OpenPGP

/// Signatures about which gpg may have no verdict. A person who can push could send them, so they must not look like a
/// failure of gpg.
@Suite(.serialized) struct SignatureFormTests {
  private static let time: [UInt8] = [5, 2, 0x65, 0x53, 0xF1, 0]
  private static let issuer: [UInt8] = [9, 16, 0xC1, 0x19, 0x45, 0xFA, 0x7D, 0x88, 0x56, 0xD8]

  /// Returns a signature of the form that GnuPG makes (RFC 9580, 5.2.3), but with wrong numbers.
  private static func signature(
    version: UInt8 = 4, kind: UInt8 = 0, algorithm: UInt8 = 22, digest: UInt8 = 8, hashed: [UInt8] = time,
    unhashed: [UInt8] = issuer, numbers: [UInt8] = number(256) + number(256)
  ) -> [UInt8] {
    func length(_ bytes: [UInt8]) -> [UInt8] { [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] }
    return Packets.new(
      2,
      [version, kind, algorithm, digest] + length(hashed) + hashed + length(unhashed) + unhashed + [1, 2]
        + numbers)
  }

  private static func number(_ bits: Int) -> [UInt8] {
    [UInt8(bits >> 8), UInt8(bits & 255)] + [UInt8](repeating: 0x81, count: (bits + 7) / 8)
  }

  /// A subpacket of a private type with a number of bytes.
  private static func subpacket(_ size: Int) -> [UInt8] {
    [255, 0, 0, UInt8((size + 1) >> 8), UInt8((size + 1) & 255), 100] + [UInt8](repeating: 1, count: size)
  }

  static let forms: [(name: String, bytes: [UInt8])] = [
    ("ordinary", signature()), ("no subpackets", signature(hashed: [], unhashed: [])),
    ("version 5", signature(version: 5)), ("versions 4 and 5", signature() + signature(version: 5)),
    ("versions 5 and 4", signature(version: 5) + signature()),
    ("a signature of a user id", signature(kind: 0x13)), ("a revocation", signature(kind: 0x20)),
    ("RSA for encryption", signature(algorithm: 2, numbers: number(256))),
    ("RSA for encryption without numbers", signature(algorithm: 2, numbers: [])),
    ("Elgamal", signature(algorithm: 20)), ("Elgamal without numbers", signature(algorithm: 20, numbers: [])),
    ("Elgamal with one number", signature(algorithm: 20, numbers: number(256))),
    ("an unknown algorithm", signature(algorithm: 99)),
    ("an unknown algorithm without numbers", signature(algorithm: 99, numbers: [])),
    (
      "an unknown algorithm with a long number",
      signature(algorithm: 99, numbers: number(65_535) + number(65_535))
    ),
    ("very many bits", signature(algorithm: 1, numbers: number(16_385))),
    ("as many bits as GnuPG reads", signature(algorithm: 1, numbers: number(16_384))),
    ("long hashed subpackets", signature(hashed: time + subpacket(10_000))),
    ("other long subpackets", signature(unhashed: subpacket(10_000))),
  ]
  // Each number of a digest algorithm, and some that are not assigned.
  private static let digests: [(name: String, bytes: [UInt8])] =
    ([UInt8](0...15) + [99, 255]).map { ("digest \($0)", signature(digest: $0)) }

  @Test(arguments: forms + digests)
  func `a forged signature of any form is bad, and no failure of gpg`(_ form: (name: String, bytes: [UInt8]))
    throws
  {
    let engine = Engine(try GnuPGHome(), people: [.alice])
    #expect(try engine.verifyDetached(signature: form.bytes, of: [1]).allSatisfy { $0.status != .good })
    let algorithms = Array(form.bytes.dropFirst(form.bytes.count < 195 ? 4 : 5).prefix(2).reversed())
    let onePass = Packets.new(4, [3, 0] + algorithms + Self.issuer.dropFirst(2) + [1])
    let message = onePass + Packets.new(11, [98, 0, 0, 0, 0, 0, 1]) + form.bytes
    #expect(try engine.verifyMessages([message, message]).allSatisfy { $0?.status != .good })
  }

  /// Damaged parts of an armored signature: what follows the first line, and what precedes the last one.
  static let armors: [(start: String, end: String)] = [
    ("\n\n", "\n"), ("\n\n", "\n=AAAA\n"), ("\n\n", "\n=A\n"), ("\n\n=\n", "\n"), (" x\n\n", "\n"),
    ("\nComment: x\n\n", "\n=====\n"),
  ]

  @Test(arguments: armors)
  func `a forged signature with damaged armor is bad, and no failure of gpg`(
    _ armor: (start: String, end: String)
  )
    throws
  {
    let engine = Engine(try GnuPGHome(), people: [.alice])
    for (_, bytes) in Self.forms {
      let text =
        "-----BEGIN PGP SIGNATURE-----\(armor.start)\(Data(bytes).base64EncodedString())\(armor.end)"
        + "-----END PGP SIGNATURE-----\n"
      let facts = try engine.verifyDetached(signature: Array(text.utf8), of: [1])
      #expect(facts.allSatisfy { $0.status != .good })
    }
  }
}
