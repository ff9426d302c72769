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
    #expect(throws: KeyFile.Problem.self) {
      try KeyFile(reading: [key(with: 1000, ofTag: tag)], locations: locations)
    }
    #expect(throws: KeyFile.Problem.self) {
      try KeyFile.merging(
        key(with: 1000, ofTag: tag), onto: [GnuPGKey.alice.fingerprint: alice], locations: locations)
    }
    #expect(imports <= 1)
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
