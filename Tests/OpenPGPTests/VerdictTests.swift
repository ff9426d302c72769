import Encoding
import Foundation
import KeyringModel
import TestSupport
import Testing

@testable import OpenPGP

/// A verdict of gpg is its explicit statement about a message. Silence is an error.
@Suite(.serialized) struct VerdictTests {
  // MARK: Status lines

  private static let start = ["FILE_START 1 /a", "NEWSIG", "SIG_ID x 2026-01-01 1"]
  private static let good = [
    "GOODSIG C11945FA7D8856D8 Alice",
    "VALIDSIG \(GnuPGKey.alice.fingerprint.text) 2026-01-01 1 0 4 0 22 8 00",
  ]
  private static let table = KeyTable([
    PublicKey(
      fingerprint: GnuPGKey.alice.fingerprint, userIDs: [],
      subkeys: [
        PublicKey.Subkey(
          fingerprint: GnuPGKey.alice.fingerprint, keyID: KeyID(value: 1), canEncrypt: false, canSign: true,
          created: Timestamp(microseconds: 0))
      ], hasSecret: false)
  ])

  private static func output(_ lines: [String]) -> [UInt8] {
    Array(lines.map { "[GNUPG:] \($0)\n" }.joined().utf8)
  }

  private static func fact(_ lines: [String], _ table: KeyTable = table) throws(EngineError) -> SignatureFact
  {
    try VerificationStatus(output(lines)).statements(about: "/a").facts(1, table)[0]
  }

  @Test func `a signature has a verdict only if gpg has said everything about its file`() throws {
    let lines = Self.start + Self.good + ["TRUST_UNDEFINED 0 pgp", "FILE_DONE"]
    #expect(try Self.fact(lines).status == .good)
    for count in lines.indices {
      #expect(throws: EngineError.self, "\(count) lines") { try Self.fact(Array(lines.prefix(count))) }
    }
    // A line that could not be written, except for the one about trust and the one with the digest.
    for missing in lines.indices where ![2, 5].contains(missing) {
      var rest = lines
      rest.remove(at: missing)
      #expect(throws: EngineError.self, "without \(lines[missing])") { try Self.fact(rest) }
    }
  }

  /// Lines about a signature, and the status that they state; nil for none.
  static let statements: [(lines: [String], status: SignatureFact.Status?)] = [
    (["BADSIG C11945FA7D8856D8 Alice"], .bad),
    (["ERRSIG C11945FA7D8856D8 22 8 00 1 9 \(GnuPGKey.bob.fingerprint.text)", "NO_PUBKEY 1"], .unknownKey),
    (["ERRSIG C11945FA7D8856D8 22 8 00 1 9", "NO_PUBKEY 1"], .unknownKey),
    (["ERRSIG C11945FA7D8856D8 99 8 00 1 4 -"], .bad),
    // The table has this key, so gpg could not read its keyring.
    (["ERRSIG C11945FA7D8856D8 22 8 00 1 9 \(GnuPGKey.alice.fingerprint.text)"], nil),
    // The number of ENOMEM, and EIO.
    (["ERRSIG C11945FA7D8856D8 22 8 00 1 32854 -"], nil),
    (["ERRSIG C11945FA7D8856D8 22 8 00 1 32809 -"], nil),
    (["GOODSIG C11945FA7D8856D8 Alice"], nil), (["NODATA 4"], nil), ([], nil),
    (good + ["ERROR proc_pkt.plaintext 32809"], nil), (good + ["NEWSIG"], nil), (good + good, nil),
  ]

  @Test(arguments: statements)
  func `only an explicit statement is a verdict`(_ row: (lines: [String], status: SignatureFact.Status?))
    throws
  {
    let lines = Self.start + row.lines + ["FILE_DONE"]
    if let status = row.status {
      #expect(try Self.fact(lines).status == status)
    } else {
      #expect(throws: EngineError.self) { try Self.fact(lines) }
    }
  }

  // MARK: A gpg that dies

  /// The engine of a home, with a gpg that ends in a given way if its arguments contain a word.
  private static func engine(
    _ home: GnuPGHome, people: [GnuPGKey], dyingAt word: String, _ death: String
  ) throws -> Engine {
    let tools = "\(home.folder)/tools"
    try FileManager.default.createDirectory(
      atPath: tools, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let script = """
      #!/bin/sh
      case " $* " in *' \(word) '*) \(death);; esac
      exec /usr/bin/gpg "$@"

      """
    try ExecutableFile.write(script, to: "\(tools)/gpg")
    try ExecutableFile.write("#!/bin/sh\nexec /usr/bin/gpgconf \"$@\"\n", to: "\(tools)/gpgconf")
    return Engine(
      locations: EngineLocations(
        userHome: home.home, runtimeBase: "\(home.folder)/run", searchPath: "\(tools):/usr/bin:/bin"),
      keyringID: "dying", keys: GnuPGKey.files(people), interaction: .never)
  }

  /// The ways in which gpg ends without having said anything, or after it has said a part.
  static let deaths = [
    "kill -KILL $$", "exit 0", "exit 2",
    "/usr/bin/gpg \"$@\" | head -c 900; kill -KILL $$", "/usr/bin/gpg \"$@\"; kill -KILL $$",
    "/usr/bin/gpg \"$@\"; exit 3",
  ]

  @Test(arguments: deaths)
  func `the signatures that a dying gpg did not verify are not bad`(death: String) throws {
    let home = try GnuPGHome(secret: [.alice, .bob])
    let sound = Engine(home, people: [.alice, .bob])
    let messages = try (1...4).map {
      try sound.signMessage(Array("\($0)".utf8), signer: GnuPGKey.alice.fingerprint)
    }
    #expect(try sound.verifyMessages(messages).allSatisfy { $0?.status == .good })
    let engine = try Self.engine(home, people: [.alice, .bob], dyingAt: "--verify-files", death)
    #expect(throws: EngineError.self) { try engine.verifyMessages(messages) }
  }

  /// Operations of libgpgme, which does not learn how gpg has ended.
  @Test(arguments: ["kill -KILL $$", "exit 0", "exit 2"])
  func `an operation of a gpg that says nothing is an error`(death: String) throws {
    let home = try GnuPGHome(secret: [.alice, .bob])
    let sound = Engine(home, people: [.alice, .bob])
    let message = try sound.signMessage([1], signer: GnuPGKey.alice.fingerprint)
    let signature = try sound.signDetached([1], signer: GnuPGKey.alice.fingerprint)
    let sealed = try sound.sealed(to: [.alice])
    var number = 0
    func dying(at word: String) throws -> Engine {
      number += 1
      try? FileManager.default.removeItem(atPath: "\(home.folder)/tools")
      return try Self.engine(home, people: [.alice, .bob], dyingAt: word, death)
    }
    #expect(throws: EngineError.self) { try dying(at: "--output").verifyMessages([message]) }
    #expect(throws: EngineError.self) {
      try dying(at: "--verify").verifyDetached(signature: signature, of: [1])
    }
    #expect {
      try dying(at: "--decrypt").opened(sealed)
    } throws: { error in
      if case .incomplete = error as? EngineError { true } else { false }
    }
    #expect(throws: EngineError.self) { try dying(at: "--encrypt").sealed(to: [.alice]) }
    #expect(throws: EngineError.self) { try dying(at: "--sign").signed(by: .alice) }
  }

  /// The words in the arguments of the calls that make an engine home, and the way in which gpg ends there.
  static let unfinished = [
    ("--import", "kill -KILL $$"), ("--import", "exit 0"), ("--import", "exit 2"),
    ("--list-keys", "kill -KILL $$"),
    ("--list-keys", "exit 0"), ("--list-keys", "/usr/bin/gpg \"$@\" | head -c 300; kill -KILL $$"),
    ("--list-keys", "/usr/bin/gpg \"$@\" | head -c 560; exit 0"),
  ]

  @Test(arguments: unfinished)
  func `a home is not made with the keys that a dying gpg has imported or listed`(word: String, death: String)
    throws
  {
    let home = try GnuPGHome()
    let engine = try Self.engine(home, people: [.alice, .bob], dyingAt: word, death)
    #expect(throws: EngineError.self) { try engine.checkRecipients([Recipient(GnuPGKey.alice.fingerprint)]) }
    try FileManager.default.removeItem(atPath: "\(home.folder)/tools")
    let sound = try Self.engine(home, people: [.alice, .bob], dyingAt: "--never", death)
    #expect(try sound.publicKeys().map(\.fingerprint) == [GnuPGKey.bob, .alice].map(\.fingerprint))
  }
}
