import Encoding
import Foundation
import KeyringModel
import OpenPGP
import TestSupport
import Testing

/// Tests which messages are accepted as signed statements, and GnuPG's facts about them.
@Suite(.serialized, .waits) struct SignedMessageTests {
  private static let line = Array("{\"format\":1}".utf8)

  private static let onePass = Packets.new(4, [3, 0, 10, 22, 1, 2, 3, 4, 5, 6, 7, 8, 1])
  private static let signature = Packets.new(2, [4, 0, 22, 10, 0, 0, 0, 0, 1, 2, 3])

  private static func literal(_ content: [UInt8], format: String = "b", name: String = "") -> [UInt8] {
    Packets.new(
      11, Array(format.utf8) + [UInt8(name.utf8.count)] + Array(name.utf8) + [0, 0, 0, 0] + content)
  }

  @Test(arguments: [0, 1, 150, 191, 192, 1024, 8383, 8384, 16_000])
  func `a one-pass signature, literal data and a signature are read and give the content`(size: Int) {
    let content = [UInt8](repeating: 7, count: size)
    let message = Self.onePass + Self.literal(content) + Self.signature
    #expect(SignedMessage(message)?.content == content)
    let named = Self.onePass + Self.literal(content, name: "statement") + Self.signature
    #expect(SignedMessage(named)?.content == content)
  }

  static let refused: [(String, [UInt8])] = [
    ("nothing", []),
    ("text", Array("hello".utf8)),
    ("literal data only", literal(line)),
    ("no signature", onePass + literal(line)),
    ("no one-pass signature", literal(line) + signature),
    ("an old form with the signature first", signature + literal(line)),
    ("two signatures", onePass + onePass + literal(line) + signature + signature),
    ("two contents", onePass + literal(line) + literal(line) + signature),
    ("compressed", Packets.new(8, [0] + onePass + literal(line) + signature)),
    ("a marker packet first", Packets.new(10, Array("PGP".utf8)) + onePass + literal(line) + signature),
    ("two messages", onePass + literal(line) + signature + onePass + literal(line) + signature),
    ("a line feed at the end", onePass + literal(line) + signature + [10]),
    ("literal data in text format", onePass + literal(line, format: "t") + signature),
    ("literal data in UTF-8 format", onePass + literal(line, format: "u") + signature),
    ("literal data that is too short", onePass + Packets.new(11, [98, 0, 0, 0, 0]) + signature),
    ("a name that is longer than the packet", onePass + Packets.new(11, [98, 9, 0, 0, 0, 0, 1]) + signature),
    (
      "literal data with partial lengths",
      onePass + [0xCB, 0xE9, 98, 0, 0, 0, 0, 0] + [UInt8](repeating: 1, count: 506) + [0] + signature
    ),
    ("too large", onePass + literal([UInt8](repeating: 1, count: 16 << 10)) + signature),
  ]

  @Test(arguments: refused.indices)
  func `anything else is not a signed statement`(index: Int) {
    let (name, bytes) = Self.refused[index]
    #expect(SignedMessage(bytes) == nil, "\(name)")
  }

  @Test func `a message truncated anywhere is not a signed statement`() {
    let message = Self.onePass + Self.literal(Self.line) + Self.signature
    for length in 0..<message.count { #expect(SignedMessage(Array(message.prefix(length))) == nil) }
  }

  @Test func `a signed message is read back by this program and by gpg`() throws {
    let home = try GnuPGHome(secret: [.alice])
    let engine = Engine(home, people: [.alice])
    let message = try engine.signMessage(Self.line, signer: GnuPGKey.alice.fingerprint)
    #expect(SignedMessage(message)?.content == Self.line)
    #expect(try home.run(["--decrypt"], input: message) == Self.line)
    let fact = try #require(try engine.verifyMessages([message])[0])
    #expect(fact.status == .good)
    #expect(fact.primary == GnuPGKey.alice.fingerprint)
    #expect(fact.created > Timestamp(microseconds: 1_700_000_000_000_000))
  }

  // MARK: Facts

  /// A message with its expected status and signer.
  private struct Claim {
    let name: String
    let message: [UInt8]
    let status: SignatureFact.Status?
    var signer: GnuPGKey?
  }

  private let home: GnuPGHome
  private let engine: Engine
  private let claims: [Claim]

  init() throws {
    home = try GnuPGHome(secret: [.alice, .bob, .rsa, .carol])
    engine = Engine(home, people: [.alice, .bob, .rsa, .expired, .revoked])
    let all = Engine(home, people: [.alice, .carol])
    let good = try engine.signMessage(Self.line, signer: GnuPGKey.alice.fingerprint)
    var bad = good
    let place = try #require(Self.place(of: Self.line, in: good))
    bad[place] ^= 1
    var cut = good
    cut.removeLast()
    let rsa = try engine.signMessage(Self.line, signer: GnuPGKey.rsa.fingerprint)
    claims = [
      Claim(name: "good", message: good, status: .good, signer: .alice),
      Claim(name: "bad", message: bad, status: .bad),
      Claim(name: "by a key of another kind", message: rsa, status: .good, signer: .rsa),
      Claim(
        name: "by an unknown key",
        message: try all.signMessage(Self.line, signer: GnuPGKey.carol.fingerprint),
        status: .unknownKey),
      Claim(
        name: "by a key that has expired since", message: try Self.old(.expired), status: .good,
        signer: .expired),
      Claim(
        name: "by a revoked key", message: try Self.old(.revoked),
        status: .invalidKey(.revoked(Self.revocation)),
        signer: .revoked),
      Claim(name: "truncated", message: cut, status: nil),
      Claim(name: "two messages", message: good + rsa, status: nil),
      Claim(name: "with trailing bytes", message: good + [0], status: nil),
      Claim(name: "nothing", message: [], status: nil),
      Claim(name: "compressed", message: try home.run(["--sign"], input: Self.line), status: nil),
      Claim(
        name: "by two signers", message: try home.run(Self.two + ["--sign"], input: Self.line), status: nil),
      Claim(name: "encrypted", message: try engine.sealed(to: [.alice]), status: nil),
      Claim(name: "detached", message: try home.run(["--detach-sign"], input: Self.line), status: nil),
      Claim(name: "with an unreadable signature packet", message: Self.nonsense, status: .bad),
    ]
  }

  private static let revocation = KeyRevocation(
    created: Timestamp(microseconds: 1_704_412_800_000_000), reason: .unspecified)

  private static let two = [
    "--compress-algo", "none", "--local-user", GnuPGKey.alice.fingerprint.text, "--local-user",
    GnuPGKey.bob.fingerprint.text,
  ]

  /// The packets of a signed message with a signature packet that cannot be read.
  private static let nonsense = onePass + literal(line) + signature

  private static func place(of part: [UInt8], in bytes: [UInt8]) -> Int? {
    bytes.indices.first { bytes[$0...].starts(with: part) }
  }

  /// Returns a signed message made from a detached signature from the time when the key was valid.
  private static func old(_ key: GnuPGKey) throws -> [UInt8] {
    let lines = String(decoding: GnuPGKey.signature(by: key), as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex(of: "")) + 1
    let text = lines[start...].prefix { !$0.hasPrefix("=") && !$0.hasPrefix("-") }.joined()
    let packet = Array(try #require(Data(base64Encoded: text)))
    // Old format, one byte of length; version, type, key algorithm, hash algorithm (RFC 9580, 5.2.3).
    try #require(packet[0] == 0x88 && packet[2] == 4)
    let id = key.fingerprint.text.suffix(16)
    let digits = stride(from: 0, to: 16, by: 2).compactMap { UInt8(id.dropFirst($0).prefix(2), radix: 16) }
    return Packets.new(4, [3, packet[3], packet[5], packet[4]] + digits + [1])
      + literal(Array("policy\n".utf8)) + packet
  }

  private func check(_ fact: SignatureFact?, _ claim: Claim, _ comment: String) {
    // A bad message may also be reported as unreadable or as signed by an unknown key, but never as good.
    if claim.status == .bad {
      #expect(fact == nil || fact?.status == .bad || fact?.status == .unknownKey, "\(claim.name) \(comment)")
    } else {
      #expect(fact?.status == claim.status, "\(claim.name) \(comment)")
    }
    if let signer = claim.signer {
      #expect(fact?.primary == signer.fingerprint, "\(claim.name) \(comment)")
    } else if fact?.status == .unknownKey {
      #expect(fact?.primary == nil, "\(claim.name) \(comment)")
    }
  }

  @Test func `each message is verified separately`() throws {
    for claim in claims {
      let facts = try engine.verifyMessages([claim.message])
      #expect(facts.count == 1)
      check(facts[0], claim, "alone")
    }
  }

  @Test func `messages that are verified together have the same facts as alone`() throws {
    let before = engine.statistics.processes
    let facts = try engine.verifyMessages(claims.map(\.message))
    #expect(engine.statistics.processes == before + 1)
    for (fact, claim) in zip(facts, claims) { check(fact, claim, "together") }
  }

  @Test func `600 messages keep their order, with bad ones in between`() throws {
    var order = Xorshift(state: 99)
    let many = (0..<600).map { _ in claims[Int(order.next() % UInt64(claims.count))] }
    let before = engine.statistics.processes
    let facts = try engine.verifyMessages(many.map(\.message))
    #expect(facts.count == 600)
    for (number, (fact, claim)) in zip(facts, many).enumerated() { check(fact, claim, "number \(number)") }
    #expect(engine.statistics.processes <= before + 2)
  }

  @Test func `verifying no message starts no process`() throws {
    let engine = Engine(home, people: [.alice])
    #expect(try engine.verifyMessages([]).isEmpty)
    #expect(try engine.verifyMessages([[1], []]) == [nil, nil])
    #expect(engine.statistics == EngineStatistics())
  }

  @Test func `verification leaves no file behind`() throws {
    _ = try engine.verifyMessages(claims.map(\.message))
    for name in try home.engineHomes {
      let files = try FileManager.default.contentsOfDirectory(atPath: "\(home.locations.runtimeBase)/\(name)")
      #expect(!files.contains { $0.hasPrefix("verify-") })
    }
  }

  @Test func `the digest of a container does not depend on its recipients`() throws {
    func digest(_ bytes: [UInt8]) throws -> ContentDigest {
      try unsafe bytes.span.bytes.withUnsafeBytes { buffer throws(MessageError) in
        try unsafe engine.containerDigest(of: buffer)
      }
    }
    let message = try engine.sealed(to: [.alice])
    let other = Packets.recipient(5) + message.dropFirst(DamageTests.recipients(message).count)
    #expect(try digest(Array(other)) == digest(message))
    #expect(try digest(try engine.sealed(to: [.alice])) != digest(message))
    var changed = message
    changed[changed.count - 1] ^= 1
    #expect(try digest(changed) != digest(message))
  }
}
