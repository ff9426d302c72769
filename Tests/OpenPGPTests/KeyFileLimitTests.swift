import Foundation
import KeyringModel
import TestSupport
import Testing

@testable import OpenPGP

/// GnuPG needs time that grows with the square of the number of user ids and subkeys of a key (threat T46).
@Suite(.serialized) struct KeyFileLimitTests {
  private let home: GnuPGHome
  private let alice: [UInt8]
  private var log: String { "\(home.folder)/imports" }
  private var locations: EngineLocations {
    EngineLocations(
      userHome: home.home, runtimeBase: "\(home.folder)/run",
      searchPath: "\(home.folder)/tools:/usr/bin:/bin")
  }

  /// Creates a home with a gpg that notes each of its starts with a key file.
  init() throws {
    home = try GnuPGHome()
    alice = try home.run(["--dearmor"], input: GnuPGKey.alice.publicKey)
    let tools = "\(home.folder)/tools"
    try FileManager.default.createDirectory(
      atPath: tools, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let script = """
      #!/bin/sh
      case " $* " in *' --import '*|*show-only*) echo "$*" >> '\(log)';; esac
      exec /usr/bin/gpg "$@"

      """
    try ExecutableFile.write(script, to: "\(tools)/gpg")
    try ExecutableFile.write("#!/bin/sh\nexec /usr/bin/gpgconf \"$@\"\n", to: "\(tools)/gpgconf")
  }

  private var imports: Int {
    (try? String(contentsOfFile: log, encoding: .utf8))?.split(separator: "\n").count ?? 0
  }

  /// A key with many user ids, attributes or subkeys, whose signatures are missing.
  private func key(with count: Int, ofTag tag: UInt8) -> [UInt8] {
    alice + (0..<count).flatMap { Packets.new(tag, Array("part \($0)".utf8)) }
  }

  @Test(arguments: [13, 14, 17] as [UInt8])
  func `a key file with very many parts is refused before GnuPG reads it`(tag: UInt8) throws {
    let person = GnuPGKey.alice.fingerprint
    let refusal = KeyFile.Problem.engine(.unusableKey(person, .tooManyParts(limit: 64)))
    let many = key(with: 1000, ofTag: tag)
    #expect(throws: refusal) { try KeyFile(reading: [many], locations: locations) }
    #expect(imports == 0)
    #expect(throws: refusal) { try KeyFile.merging(many, onto: [person: alice], locations: locations) }
    // The known key is imported, to be compared with the file.
    #expect(imports == 1)
  }

  /// Returns a key or subkey with numbers of some lengths.
  private func key(_ tag: UInt8, _ algorithm: UInt8, bits: [Int]) -> [UInt8] {
    let numbers = bits.flatMap { bits in
      [UInt8(bits >> 8), UInt8(bits & 255)] + [UInt8](repeating: 1, count: (bits + 7) / 8)
    }
    return Packets.new(tag, [4, 0, 0, 0, 1, algorithm] + numbers)
  }

  @Test(
    arguments: [
      (1, [16_384, 17]), (1, [8193, 17]), (1, [4096, 65]), (3, [4096, 16_384]),
      (17, [8192, 256, 8192, 8192]),
      (17, [3072, 3072, 3072, 3072]), (16, [16_384, 3, 2048]), (16, [2048, 3, 16_384]),
    ] as [(UInt8, [Int])])
  func `a key with very many bits is refused before GnuPG reads it`(algorithm: UInt8, bits: [Int]) throws {
    let subkey = alice + key(14, algorithm, bits: bits)
    let primary = key(6, algorithm, bits: bits) + Packets.new(13, Array("slow".utf8))
    for file in [subkey, primary] {
      let person = try #require(KeyPackets.certificates(in: [file]).keys.first)
      #expect(throws: KeyFile.Problem.engine(.unusableKey(person, .tooManyBits))) {
        try KeyFile(reading: [file], locations: locations)
      }
      #expect(throws: KeyFile.Problem.engine(.unusableKey(person, .tooManyBits))) {
        try KeyFile.merging(file, onto: [person: file], locations: locations)
      }
    }
    let files = [GnuPGKey.alice.fingerprint: subkey]
    let engine = Engine(locations: locations, keyringID: "test", keys: files, interaction: .never)
    #expect(throws: EngineError.unusableKey(GnuPGKey.alice.fingerprint, .tooManyBits)) {
      try engine.checkRecipients([Recipient(GnuPGKey.alice.fingerprint)])
    }
    #expect(imports == 0)
  }

  @Test func `keys of the largest usual sizes are read`() throws {
    for (algorithm, bits) in [(1, [8192, 64]), (16, [8192, 3, 8192]), (17, [4096, 512, 4096, 4096])] {
      _ = try KeyContent(alice + key(14, UInt8(algorithm), bits: bits))
    }
  }

  /// Returns a signature that names an issuer, in one of the areas of subpackets or by its fingerprint.
  private func signature(_ number: Int, by issuer: Fingerprint, asFingerprint: Bool) -> [UInt8] {
    let digits = Array(issuer.text.utf8)
    let bytes = stride(from: 0, to: digits.count, by: 2).map {
      UInt8(String(decoding: digits[$0...($0 + 1)], as: UTF8.self), radix: 16) ?? 0
    }
    let named = asFingerprint ? [22, 33, 4] + bytes : [9, 16] + bytes.suffix(8)
    let areas =
      asFingerprint ? [0, UInt8(named.count)] + named + [0, 0] : [0, 0, 0, UInt8(named.count)] + named
    return Packets.new(2, [4, 0x13, 1, 10] + areas + [UInt8(number >> 8), UInt8(number & 255), 0, 1, 1])
  }

  @Test(arguments: [false, true])
  func `a key with very many signatures of its own is refused before GnuPG reads it`(
    asFingerprint: Bool
  ) throws {
    func file(_ count: Int, by issuer: Fingerprint) -> [UInt8] {
      alice + (0..<count).flatMap { signature($0, by: issuer, asFingerprint: asFingerprint) }
    }
    let (person, other) = (GnuPGKey.alice.fingerprint, GnuPGKey.bob.fingerprint)
    let refusal = KeyFile.Problem.engine(.unusableKey(person, .tooManySignatures(limit: 1024)))
    let many = file(1024, by: person)
    #expect(throws: refusal) { try KeyFile(reading: [many], locations: locations) }
    #expect(imports == 0)
    #expect(throws: refusal) {
      try KeyFile.merging(many, onto: [person: alice], locations: locations)
    }
    #expect(imports == 1)
    // A key from a server has the signatures of many people, which GnuPG does not verify.
    _ = try KeyContent(file(5000, by: other))
    _ = try KeyContent(file(1000, by: person))
  }

  @Test func `GnuPG does not get the compressed packets of a key file`() throws {
    // Uncompressed data in a compressed packet, which GnuPG unpacks.
    #expect(throws: KeyFile.Problem.empty) {
      try KeyFile(reading: [Packets.new(8, [0] + alice)], locations: locations)
    }
  }

  @Test func `the key of a person with very many parts is not imported into an engine home`() throws {
    let files = [GnuPGKey.alice.fingerprint: key(with: 1000, ofTag: 13)].merging(GnuPGKey.files([.bob])) {
      $1
    }
    let engine = Engine(
      locations: locations, keyringID: "test", keys: files, interaction: .never)
    #expect(try engine.publicKeys().map(\.fingerprint) == [GnuPGKey.bob.fingerprint])
  }

  @Test func `a key file with the keys of very many people is not imported to find one of them`() throws {
    let others = try GnuPGKey.files([.bob, .carol]).values.flatMap {
      try home.run(["--dearmor"], input: $0)
    }
    #expect(throws: KeyFile.Problem.self) { try KeyFile(reading: [others], locations: locations) }
    #expect(imports == 0)
    let found = try KeyFile.merging(
      others, onto: [GnuPGKey.alice.fingerprint: alice], locations: locations)
    #expect(found.changed.isEmpty && found.others.count == 2)
    #expect(imports == 0)
  }
}
