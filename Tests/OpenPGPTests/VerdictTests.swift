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
      case " $* " in *' \(word) '*) echo "$*" >> '\(home.folder)/deaths'
      \(death);; esac
      exec /usr/bin/gpg "$@"

      """
    try ExecutableFile.write(script, to: "\(tools)/gpg")
    try ExecutableFile.write("#!/bin/sh\nexec /usr/bin/gpgconf \"$@\"\n", to: "\(tools)/gpgconf")
    return Engine(
      locations: EngineLocations(
        userHome: home.home, runtimeBase: "\(home.folder)/run", searchPath: "\(tools):/usr/bin:/bin"),
      keyringID: "dying", keys: GnuPGKey.files(people), interaction: .never)
  }

  /// Takes the record of the gpg that was to end: true if it was started since the last call.
  private static func wasStarted(in home: GnuPGHome) -> Bool {
    (try? FileManager.default.removeItem(atPath: "\(home.folder)/deaths")) != nil
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

  /// The status lines of a gpg that could not read a signature that can be read.
  static let silences = [[], ["NODATA 1"], ["NODATA 2"], ["NODATA 3", "NODATA 4"]]

  @Test(arguments: silences)
  func `a detached signature that gpg did not read is not bad`(lines: [String]) throws {
    let home = try GnuPGHome(secret: [.alice])
    let signature = try Engine(home, people: [.alice]).signDetached([1], signer: GnuPGKey.alice.fingerprint)
    let engine = try Self.engine(home, people: [.alice], dyingAt: "--verify", Self.printing(lines))
    #expect {
      try engine.verifyDetached(signature: signature, of: [1])
    } throws: { error in
      if case .incomplete = error as? EngineError { true } else { false }
    }
  }

  /// Shell commands that print status lines where gpg does.
  private static func printing(_ lines: [String]) -> String {
    let text = output(lines).reduce(into: "") { $0 += String(format: "\\%03o", $1) }
    return """
      for word; do [ "$last" = --status-fd ] && fd=$word; last=$word; done; printf '\(text)' > /dev/fd/$fd; exit 2
      """
  }

  /// The ways in which gpg ends, or closes its input, while the pipe to it is full.
  static let earlyEnds = [
    "exit 2", "sleep 0.3; exit 0",
    "for n in 3 4 5 6 7 8 9 10 11 12; do eval \"exec $n<&-\"; done; sleep 0.3; exit 2",
    "for n in 3 4 5 6 7 8 9 10 11 12; do echo '[GNUPG:] BEGIN_ENCRYPTION 2 9' >&$n; done 2>/dev/null; sleep 0.3; exit 2",
  ]

  @Test(.timeLimit(.minutes(1)), arguments: earlyEnds)
  func `a gpg that ends before it has read a long input does not block`(end: String) throws {
    let home = try GnuPGHome(secret: [.alice])
    let sound = Engine(home, people: [.alice])
    let long = [UInt8](repeating: 120, count: 200_000)
    let person = GnuPGKey.alice.fingerprint
    let signature = try sound.signDetached(long, signer: person)
    let sealed = try sound.sealed(long, to: [.alice])
    func ending(at word: String) throws -> Engine {
      try? FileManager.default.removeItem(atPath: "\(home.folder)/tools")
      return try Self.engine(home, people: [.alice], dyingAt: word, end)
    }
    func expectError(at word: String, _ operation: (Engine) throws -> Void) throws {
      let engine = try ending(at: word)
      #expect(throws: EngineError.self, "\(word)") { try operation(engine) }
      #expect(Self.wasStarted(in: home), "\(word)")
    }
    try expectError(at: "--verify") { _ = try $0.verifyDetached(signature: signature, of: long) }
    try expectError(at: "--encrypt") { _ = try $0.sealed(long, to: [.alice]) }
    try expectError(at: "--decrypt") { _ = try $0.opened(sealed) }
    try expectError(at: "--detach") { _ = try $0.signDetached(long, signer: person) }
    try expectError(at: "--sign") { _ = try $0.signMessage(long, signer: person) }
  }

  @Test(.timeLimit(.minutes(1)), arguments: earlyEnds)
  func `a gpg that ends before it has read all key files does not block`(end: String) throws {
    let home = try GnuPGHome()
    let locations = try Self.engine(home, people: [], dyingAt: "--import", end).locations
    let room = try TemporaryHome(
      withoutKeyIn: locations.runtimeBase, name: "room", searchPath: locations.searchPath)
    defer { room.remove() }
    let files = (0..<320).flatMap { _ in GnuPGKey.alice.publicKey + [UInt8(ascii: "\n")] }
    #expect(files.count > 200_000)
    #expect(throws: EngineError.self) { try room.keys(in: files) {} }
    #expect(Self.wasStarted(in: home))
  }

  /// The status lines of a failing decryption after the first one, and the kind of the error.
  static let failures: [(lines: [String], kind: String)] = [
    // The codes of a wrong checksum, of EIO and ENOSPC, and of an answer of the agent that cannot be read.
    (["ERROR pkdecrypt_failed 16777226"] + failed, "corrupt"),
    (["ERROR pkdecrypt_failed 33587249"] + failed, "other"),
    (["ERROR pkdecrypt_failed 134250587"] + failed, "other"),
    (["ERROR pkdecrypt_failed 33554515"] + failed, "other"),
    // The file of the secret key is truncated, or its numbers do not fit together.
    (["ERROR pkdecrypt_failed 16777417"] + failed, "other"),
    (["ERROR pkdecrypt_failed 16777419"] + failed, "other"),
    (["ERROR pkdecrypt_failed 16777429"] + failed, "other"),
    (["ERROR pkdecrypt_failed 16777223"] + failed, "other"),
    // The agent has closed the connection, or sent a part of a line.
    (["ERROR pkdecrypt_failed 33570815"] + failed, "other"),
    (["ERROR pkdecrypt_failed 33554694"] + failed, "other"),
    // The agent has the key.
    (["NO_SECKEY RECIPIENT"] + failed, "incomplete(detail: \"it did not find a secret key"),
    (["NO_SECKEY RECIPIENT"], "incomplete"),
    (["ERROR add_keyblock_resource 33587201", "NO_SECKEY RECIPIENT"] + failed, "other"),
    (["ERROR set_pinentry_mode 33587249", "NO_SECKEY RECIPIENT"] + failed, "other"),
    (["NODATA 3"], "corrupt"),
    (["NODATA 2", "FAILURE decrypt 4294967295"], "incomplete"),
    (
      ["DECRYPTION_KEY A B u", "BEGIN_DECRYPTION", "DECRYPTION_INFO 2 9 0", "BADMDC"] + failed.dropFirst(),
      "corrupt"
    ),
    (["DECRYPTION_KEY A B u", "BEGIN_DECRYPTION", "DECRYPTION_INFO 2 9 0"], "incomplete"),
  ]
  /// Returns status lines about a message; `RECIPIENT` is its recipient. libgpgme reads nothing after one about another key.
  private static func lines(about message: [UInt8], _ lines: [String]) throws -> [String] {
    let recipient = try header(of: message).recipients[0].text
    return ["ENC_TO \(recipient) 18 0"] + lines.map { $0.replacing("RECIPIENT", with: recipient) }
  }

  private static let failed = ["BEGIN_DECRYPTION", "DECRYPTION_FAILED", "END_DECRYPTION"]

  @Test(arguments: failures)
  func `a message is damaged or meant for others only if gpg says so and had no other error`(
    failure: (lines: [String], kind: String)
  ) throws {
    let home = try GnuPGHome(secret: [.alice])
    let sealed = try Engine(home, people: [.alice]).sealed(to: [.alice])
    let lines = try Self.lines(about: sealed, failure.lines)
    let engine = try Self.engine(home, people: [.alice], dyingAt: "--decrypt", Self.printing(lines))
    #expect {
      try engine.opened(sealed)
    } throws: { error in
      guard let error = error as? EngineError else { return false }
      return "\(error)".hasPrefix(failure.kind)
    }
  }

  @Test func `a message is not meant for others if the agent does not answer`() throws {
    let home = try GnuPGHome(secret: [.alice])
    let sealed = try Engine(home, people: [.alice]).sealed(to: [.alice])
    let lines = try Self.lines(about: sealed, ["NO_SECKEY RECIPIENT"] + Self.failed)
    let death = "gpgconf --homedir '\(home.home)' --kill gpg-agent\n" + Self.printing(lines)
    let engine = try Self.engine(home, people: [.alice], dyingAt: "--decrypt", death)
    #expect {
      try engine.opened(sealed)
    } throws: { error in
      if case .agentUnreachable = error as? EngineError { true } else { false }
    }
  }

  @Test(arguments: [0, 10, 30, 60, 200])
  func `a message is not damaged because the file of the secret key is truncated`(size: Int) throws {
    let home = try GnuPGHome(secret: [.alice])
    let engine = Engine(home, people: [.alice])
    let sealed = try engine.sealed(to: [.alice])
    #expect(try engine.opened(sealed) == Array("hello".utf8))
    let folder = "\(home.home)/private-keys-v1.d"
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let file = URL(fileURLWithPath: "\(folder)/\(name)")
      try Data(contentsOf: file).prefix(size).write(to: file)
    }
    home.stopAgent()
    #expect {
      try engine.opened(sealed)
    } throws: { error in
      if case .other = error as? EngineError { true } else { false }
    }
  }

  /// Words in the arguments of operations, and a number of bytes after which the output of gpg ends.
  @Test(arguments: ["--decrypt", "--sign", "--encrypt"], [0, 3, 40])
  func `an output that gpg could not write to its end is not taken for the whole`(word: String, size: Int)
    throws
  {
    let home = try GnuPGHome(secret: [.alice])
    let sealed = try Engine(home, people: [.alice]).sealed(Array(repeating: 97, count: 50), to: [.alice])
    let engine = try Self.engine(
      home, people: [.alice], dyingAt: word, "/usr/bin/gpg \"$@\" | head -c \(size); exit 0")
    #expect {
      switch word {
      case "--decrypt": _ = try engine.opened(sealed)
      case "--sign": _ = try engine.signed(by: .alice)
      default: _ = try engine.sealed(to: [.alice])
      }
    } throws: { error in
      switch error as? EngineError {
      case .incomplete: true
      // The output was closed before gpg had read its input.
      case .other: size == 0
      default: false
      }
    }
  }

  @Test func `a home that gpg could not write to is not one in which a key is missing`() throws {
    let home = try GnuPGHome()
    let counts = "IMPORT_RES 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
    let engine = try Self.engine(home, people: [.alice], dyingAt: "--import", Self.printing([counts]))
    #expect {
      try engine.checkRecipients([Recipient(GnuPGKey.alice.fingerprint)])
    } throws: { error in
      if case .incomplete = error as? EngineError { true } else { false }
    }
  }

  @Test(arguments: ["kill -KILL $$", "/usr/bin/gpg \"$@\" | head -c 700; kill -KILL $$"])
  func `a key that a dying gpg did not list is not missing in the user's keyring`(death: String) throws {
    let home = try GnuPGHome(secret: [.alice, .bob])
    // Only libgpgme has this option.
    let engine = try Self.engine(home, people: [], dyingAt: "--exit-on-status-write-error", death)
    let keyring = UserKeyring(locations: engine.locations)
    #expect {
      _ = try keyring.secretKeys()
    } throws: { error in
      if case .incomplete = error as? EngineError { true } else { false }
    }
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
