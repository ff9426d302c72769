import Encoding
import Foundation
import KeyringModel
import TestSupport
import Testing

@testable import OpenPGP

/// Keys of people that the GnuPG of this machine cannot read, or cannot read in full.
@Suite(.serialized) struct NewerKeyTests {
  @Test(arguments: NewerKey.allCases)
  func `a key file says which GnuPG it needs`(key: NewerKey) throws {
    #expect(KeyPackets.problem(of: try key.publicKey) == .unreadable(needs: key.needed))
    #expect(!KeyPackets.isOrdinary(try key.publicKey))
  }

  // Without the options of an engine home, GnuPG does not import a key that was created in the future.
  @Test(arguments: GnuPGKey.allCases.filter { $0 != .future })
  func `an ordinary key needs no newer GnuPG, and has the fingerprints that GnuPG lists`(key: GnuPGKey) throws
  {
    #expect(KeyPackets.problem(of: key.publicKey) == .missing)
    #expect(KeyPackets.isOrdinary(key.publicKey))
    let home = try GnuPGHome(public: [key])
    let listed = try #require(try UserKeyring(locations: home.locations).publicKey(key.fingerprint))
    #expect(KeyPackets.fingerprints(in: key.publicKey) == Set(listed.subkeys.map(\.fingerprint)))
  }

  private static func engine(_ home: GnuPGHome, _ people: [GnuPGKey], and other: NewerKey) throws -> Engine {
    var files = GnuPGKey.files(people)
    files[other.fingerprint] = try other.publicKey
    return Engine(locations: home.locations, keyringID: "newer", keys: files, interaction: .never)
  }

  /// The error about a key. GnuPG 2.5 reads these keys, and the tests about its absence do not apply.
  private static func isReadable(_ key: NewerKey, by engine: Engine) throws -> Bool {
    try engine.publicKeys().contains {
      $0.fingerprint == key.fingerprint && !$0.subkeys.contains(where: \.isUnsupported)
    }
  }

  @Test(arguments: NewerKey.allCases)
  func `nothing is encrypted to a key that GnuPG cannot read, and the error names the version`(key: NewerKey)
    throws
  {
    let engine = try Self.engine(try GnuPGHome(), [.alice], and: key)
    if try Self.isReadable(key, by: engine) { return }
    #expect(throws: EngineError.unusableKey(key.fingerprint, .unreadable(needs: key.needed))) {
      try engine.checkRecipients([Recipient(key.fingerprint)])
    }
    #expect(throws: Never.self) { try engine.checkRecipients([Recipient(GnuPGKey.alice.fingerprint)]) }
    #expect(engine.report().problems[key.fingerprint] == .unreadable(needs: key.needed))
  }

  @Test func `a signature of a person whose key cannot be read is not bad`() throws {
    let home = try GnuPGHome(secret: [.alice, .bob])
    let engine = try Self.engine(home, [.alice], and: .kyber)
    if try Self.isReadable(.kyber, by: engine) { return }
    let problem = EngineError.unusableKey(NewerKey.kyber.fingerprint, .unreadable(needs: "2.5"))
    let message = try NewerKey.bytes("kyber.signed.gpg")
    let own = try engine.signMessage([1], signer: GnuPGKey.alice.fingerprint)
    #expect(throws: problem) { try engine.verifyMessages([message]) }
    #expect(throws: problem) { try engine.verifyMessages([own, message, own]) }
    #expect(try engine.verifyMessages([own, own]).allSatisfy { $0?.status == .good })
    // It is not known which subkeys the person has, so no unknown key is that of a stranger.
    let bob = Engine(home, people: [.bob])
    let strangers = try bob.signDetached([1], signer: GnuPGKey.bob.fingerprint)
    #expect(throws: problem) { try engine.verifyDetached(signature: strangers, of: [1]) }
    // Without that person it is.
    #expect(try Engine(home, people: [.alice]).verifyMessages([message])[0]?.status == .unknownKey)
  }

  @Test func `a home is made again when another GnuPG may read more keys`() throws {
    let home = try GnuPGHome()
    if try Self.isReadable(.kyber, by: Self.engine(home, [.alice], and: .kyber)) { return }
    let path = "\(home.locations.runtimeBase)/\(try #require(try home.engineHomes.first))"
    try Data("9.9.9".utf8).write(to: URL(fileURLWithPath: "\(path)/gpg-version"))
    let table = "\(path)/keytree-keys"
    let before = try FileManager.default.attributesOfItem(atPath: table)[.systemFileNumber] as? Int
    _ = try Self.engine(home, [.alice], and: .kyber).publicKeys()
    #expect(try FileManager.default.attributesOfItem(atPath: table)[.systemFileNumber] as? Int != before)
    #expect(try String(contentsOfFile: "\(path)/gpg-version", encoding: .utf8) != "9.9.9")
  }

  @Test func `a file with a key that GnuPG cannot read is not called empty`() throws {
    let home = try GnuPGHome()
    for key in NewerKey.allCases {
      do throws(KeyFile.Problem) {
        _ = try KeyFile(reading: [try key.bytes()], locations: home.locations)
      } catch {
        #expect(error == .unreadable(needs: key.needed))
      }
    }
  }
}

extension NewerKey {
  /// The public key, with the error type of the test.
  fileprivate func bytes() throws(KeyFile.Problem) -> [UInt8] {
    do {
      return try publicKey
    } catch {
      throw .empty
    }
  }
}
