import Encoding
import KeyringModel
import TestSupport
import Testing

@testable import OpenPGP

/// Tests which facts of a certificate are known, and how signatures are judged by them.
@Suite(.serialized, .waits) struct CertificateTests {
  private static let dave = GnuPGKey.dave.fingerprint
  private static let event = Timestamp(seconds: 1_717_200_000)

  private static func revoked(
    _ reason: KeyRevocation.Reason?, at time: Timestamp = event
  ) -> KeyRevocation { KeyRevocation(created: time, reason: reason) }

  /// A state of dave's first signing subkey.
  struct State: CustomTestStringConvertible {
    let file: String
    var revocation: KeyRevocation?
    var expires: Timestamp?
    /// The status of a signature from before the event, and of one from after it.
    let before: SignatureFact.Status
    let after: SignatureFact.Status
    var testDescription: String { file }
  }

  private static func state(_ name: String, revoked reason: KeyRevocation.Reason?) -> State {
    let revocation = revoked(reason)
    let status = SignatureFact.Status.invalidKey(.revoked(revocation))
    return State(
      file: "dave.\(name)", revocation: revocation, before: revocation.isHard ? status : .good, after: status)
  }

  static let states = [
    State(file: "dave.public", before: .good, after: .good),
    State(file: "dave.renewed", before: .good, after: .good),
    // A revocation by somebody else, and a damaged one.
    State(file: "dave.forged", before: .good, after: .good),
    State(
      file: "dave.lapsed", expires: Timestamp(seconds: 1_717_243_200), before: .good,
      after: .invalidKey(.expired(Timestamp(seconds: 1_717_243_200)))),
    state("superseded", revoked: .superseded), state("retired", revoked: .retired),
    state("compromised", revoked: .compromised), state("unreasoned", revoked: .unspecified),
    // Without a reason, and with the reason 100.
    state("unspecified", revoked: nil), state("odd", revoked: nil),
    // The primary key is revoked as superseded.
    state("withdrawn", revoked: .superseded),
  ]

  private func engine(_ file: String, in home: GnuPGHome) -> Engine {
    Engine(
      locations: home.locations, keyringID: "test", keys: [Self.dave: GnuPGKey.file(file)],
      interaction: .never)
  }

  @Test(arguments: states)
  func `the time and the reason of a revocation are known`(state: State) throws {
    let home = try GnuPGHome()
    for _ in 0..<2 {
      // The second engine reads the table that the first one has written.
      let key = try #require(try engine(state.file, in: home).publicKeys().first)
      let subkey = try #require(key.subkeys.first { $0.fingerprint == GnuPGKey.davesSubkeys.first })
      #expect(subkey.revocation == state.revocation && subkey.expires == state.expires)
      #expect(subkey.canSign && !subkey.invalid)
    }
  }

  @Test func `a signature is judged by the time when it was made, in each way to verify it`() throws {
    let home = try GnuPGHome()
    try home.run(["--import"], input: GnuPGKey.file("dave.secret"))
    let line = Array("{\"format\":1}".utf8)
    let times = ["20240301T000000", "20240701T000000"]
    let options = ["--local-user", "\(GnuPGKey.davesSubkeys.first.text)!", "--compress-algo", "none"]
    let messages = try times.map {
      try home.run(["--faked-system-time", $0] + options + ["--sign"], input: line)
    }
    let detached = try times.map {
      try home.run(["--faked-system-time", $0] + options + ["--detach-sign"], input: line)
    }
    for state in Self.states {
      let engine = engine(state.file, in: home)
      let expected: [SignatureFact.Status?] = [state.before, state.after]
      #expect(try engine.verifyMessages(messages).map(\.?.status) == expected, "\(state.file)")
      #expect(try messages.map { try engine.verifyMessages([$0])[0]?.status } == expected, "\(state.file)")
      let facts = try detached.map { try engine.verifyDetached(signature: $0, of: line) }
      #expect(facts.map { $0.map(\.status) } == expected.map { [$0] }, "\(state.file)")
      #expect(
        facts.allSatisfy {
          $0.map(\.primary) == [Self.dave] && $0.map(\.key) == [GnuPGKey.davesSubkeys.first]
        })
    }
  }

  // MARK: The rule

  private static func subkey(
    _ fingerprint: Fingerprint, expires: Int? = nil, revocation: KeyRevocation? = nil, signs: Bool = true,
    invalid: Bool = false
  ) -> PublicKey.Subkey {
    PublicKey.Subkey(
      fingerprint: fingerprint, keyID: KeyID(value: 1), canEncrypt: false, canSign: signs,
      created: Timestamp(seconds: 1000), expires: expires.map { Timestamp(seconds: $0) },
      revocation: revocation,
      invalid: invalid)
  }

  private static func judge(
    _ primary: PublicKey.Subkey, _ subkey: PublicKey.Subkey, at seconds: Int
  ) -> SignatureFact.Status {
    PublicKey(fingerprint: primary.fingerprint, userIDs: [], subkeys: [primary, subkey], hasSecret: false)
      .judge(signatureBy: subkey.fingerprint, made: Timestamp(seconds: seconds))
  }

  @Test func `the second of an expiry or of a soft revocation is too late for a signature`() {
    let (first, second) = GnuPGKey.davesSubkeys
    let end = Timestamp(seconds: 5000)
    let soft = Self.revoked(.superseded, at: end)
    let plain = (Self.subkey(first), Self.subkey(second))
    for (problem, pair) in [
      (SignerProblem.expired(end), (Self.subkey(first, expires: 5000), plain.1)),
      (.expired(end), (plain.0, Self.subkey(second, expires: 5000))),
      (.revoked(soft), (Self.subkey(first, revocation: soft), plain.1)),
      (.revoked(soft), (plain.0, Self.subkey(second, revocation: soft))),
    ] {
      #expect(Self.judge(pair.0, pair.1, at: 4999) == .good)
      #expect(Self.judge(pair.0, pair.1, at: 5000) == .invalidKey(problem))
    }
    #expect(Self.judge(plain.0, plain.1, at: .max) == .good)
  }

  @Test func `a hard revocation of the subkey or of the primary key is decisive at any time`() {
    let (first, second) = GnuPGKey.davesSubkeys
    let soft = Self.revoked(.retired, at: Timestamp(seconds: 2000))
    for reason in [KeyRevocation.Reason.compromised, .unspecified, nil] {
      let hard = Self.revoked(reason, at: Timestamp(seconds: 9000))
      for (primary, subkey) in [(hard, nil), (nil, hard), (hard, soft), (soft, hard)]
        as [(KeyRevocation?, KeyRevocation?)]
      {
        let status = Self.judge(
          Self.subkey(first, revocation: primary), Self.subkey(second, revocation: subkey), at: 1000)
        #expect(status == .invalidKey(.revoked(hard)))
      }
    }
  }

  @Test func `a signature is bad if the certificate has no such key for signing at that time`() {
    let (first, second) = GnuPGKey.davesSubkeys
    #expect(Self.judge(Self.subkey(first), Self.subkey(second), at: 699) == .bad)
    #expect(Self.judge(Self.subkey(first), Self.subkey(second, signs: false), at: 2000) == .bad)
    #expect(Self.judge(Self.subkey(first), Self.subkey(second, invalid: true), at: 2000) == .bad)
    #expect(Self.judge(Self.subkey(first, invalid: true), Self.subkey(second), at: 2000) == .bad)
    let key = PublicKey(fingerprint: first, userIDs: [], subkeys: [Self.subkey(first)], hasSecret: false)
    #expect(key.judge(signatureBy: second, made: Timestamp(seconds: 2000)) == .bad)
  }

  // MARK: The listing

  private static let listing = """
    tru::1:1795979580:0:3:1:5
    pub:u:255:22:6A57921C426A1710:1704067200:::u:::cESC:::::ed25519:::0:
    fpr:::::::::A90E209E6F84F2E8302A0B036A57921C426A1710:
    uid:u::::1704067200::9843C9C429F2CD0ECB7D63D42DEC2877F13AFC1C::Dave Example <dave@keytree.example>::::::::::0:
    rev:::22:6A57921C426A1710:1717200000::::Dave Example <dave@keytree.example>:30x,20::A90E209E6F84F2E8302A0B036A57921C426A1710:::8:
    sub:r:255:22:4703363FA801F728:1704067200::::::s:::::ed25519::
    fpr:::::::::E7470E5E47A329BE6B7D6EA94703363FA801F728:
    rev:::22:6A57921C426A1710:1717200000::::Dave Example <dave@keytree.example>:28x,03::A90E209E6F84F2E8302A0B036A57921C426A1710:::8:
    rev:?::22:A70EC9DF62361C50:1717200000::::[User ID not found]:28x,02::8236B649CDE32F83A3268930A70EC9DF62361C50:::8:
    sig:::22:6A57921C426A1710:1704067200::::Dave Example <dave@keytree.example>:18x::A90E209E6F84F2E8302A0B036A57921C426A1710:::8:

    """

  @Test func `only the own revocations of a key are read from a listing`() throws {
    let listing = try #require(RevocationListing(Array(Self.listing.utf8)))
    #expect(
      listing.revocations == [Self.dave: [], GnuPGKey.davesSubkeys.first: [Self.revoked(.retired)]])
    #expect(RevocationListing([])?.revocations == [:])
  }

  @Test(arguments: [
    ("28x,03", "28x,0g"), ("28x,03", "28x,03,02"), ("28x,03", "2"), ("28x,03", "40x"), ("sig:::", "new:::"),
    ("1710:1717200000::::Dave Example <dave@keytree.example>:28x", "1710::::Dave:28x"),
    ("fpr:::::::::E7470E5E47A329BE6B7D6EA94703363FA801F728:\n", ""), ("sub:r", "fpr:r"),
    ("sub:r:255:22:47", "sub:r:255:22:"),
    ("pub:u:255:22:6A57921C426A1710:1704067200:::u:::cESC:::::ed25519:::0:\n", ""),
  ])
  func `a listing of an unexpected form is refused`(old: String, new: String) {
    let changed = Self.listing.replacing(old, with: new)
    #expect(changed != Self.listing && RevocationListing(Array(changed.utf8)) == nil)
  }

  @Test func `a listing that lacks a revoked key is not a listing of the same keys`() throws {
    let key = PublicKey(
      fingerprint: Self.dave, userIDs: [],
      subkeys: [Self.subkey(Self.dave), Self.subkey(GnuPGKey.davesSubkeys.first, revocation: .unexplained)],
      hasSecret: false)
    let lines = Self.listing.split(separator: "\n", omittingEmptySubsequences: false)
    let short = Array((lines.prefix(5).joined(separator: "\n") + "\n").utf8)
    #expect(RevocationListing(short)?.completing([key]) == nil)
    let whole = try #require(RevocationListing(Array(Self.listing.utf8))?.completing([key]))
    #expect(whole[0].subkeys.map(\.revocation) == [nil, Self.revoked(.retired)])
    for length in 1..<Self.listing.utf8.count where Array(Self.listing.utf8)[length - 1] != UInt8(ascii: "\n")
    {
      #expect(RevocationListing(Array(Self.listing.utf8.prefix(length))) == nil)
    }
  }

  // MARK: Several revocations

  /// Returns dave's key with a revocation of the first signing subkey as superseded.
  private func superseded(at time: String) throws -> [UInt8] {
    let home = try GnuPGHome()
    let silent = ["--pinentry-mode", "loopback", "--passphrase", ""]
    try home.run(["--import"], input: GnuPGKey.file("dave.renewed.secret"))
    try home.run(
      silent + ["--faked-system-time", time, "--command-fd", "0", "--edit-key", Self.dave.text],
      input: Array("key 2\nrevkey\ny\n2\n\ny\nsave\n".utf8))
    return try home.run(["--armor", "--export", Self.dave.text])
  }

  @Test(arguments: [true, false], [true, false])
  func `a revocation as compromised decides, also if the other one has the same time or is newer`(
    isNewer: Bool, isCompromisedFirst: Bool
  ) throws {
    let home = try GnuPGHome()
    let other = isNewer ? try superseded(at: "20240701T000000") : GnuPGKey.file("dave.superseded")
    let compromised = GnuPGKey.file("dave.compromised")
    let files = isCompromisedFirst ? [compromised, other] : [other, compromised]
    func reason(_ key: PublicKey?) -> KeyRevocation.Reason? {
      key?.subkeys.first { $0.fingerprint == GnuPGKey.davesSubkeys.first }?.revocation?.reason
    }
    #expect(reason(try KeyFile(reading: [other], locations: home.locations).key) == .superseded)
    let merged = try KeyFile(reading: files, locations: home.locations)
    #expect(reason(merged.key) == .compromised)
    for file in [merged.bytes, files[0] + [UInt8(ascii: "\n")] + files[1]] {
      let engine = Engine(
        locations: home.locations, keyringID: "test", keys: [Self.dave: file], interaction: .never)
      #expect(reason(try engine.publicKeys().first) == .compromised)
    }
  }

  // MARK: Subkeys of other people

  @Test func `an engine refuses a key with the primary key of another person before GnuPG reads it`() throws {
    let carol = GnuPGKey.carol.fingerprint
    let expected = ForeignSubkey(person: carol, owner: Self.dave, subkey: Self.dave)
    #expect(throws: EngineError.foreignSubkey(expected)) { try table("primary", in: try GnuPGHome()) }
  }

  private func table(_ borrowed: String, in home: GnuPGHome) throws -> KeyTable {
    try Engine(
      locations: home.locations, keyringID: "test",
      keys: [
        Self.dave: GnuPGKey.dave.publicKey,
        GnuPGKey.carol.fingerprint: GnuPGKey.file("carol.borrowed.\(borrowed)"),
      ],
      interaction: .never
    ).home().table
  }

  @Test(arguments: ["authenticating", "unused"])
  func `a subkey that another key may not encrypt to belongs to its owner`(borrowed: String) throws {
    let table = try table(borrowed, in: try GnuPGHome())
    let id = try #require(KeyID("3C8B0158E47CE2C1"))
    #expect(table.claims(id, by: GnuPGKey.carol.fingerprint))
    #expect(table.owners(of: id) == [Self.dave])
    #expect(try table.encryptionSubkeys(of: [Recipient(Self.dave)], at: Engine.now).map(\.keyID) == [id])
  }

  @Test func `a subkey that two keys may encrypt to is used only if the policy names it`() throws {
    let table = try table("flagless", in: try GnuPGHome())
    let (id, carol) = (try #require(KeyID("3C8B0158E47CE2C1")), GnuPGKey.carol.fingerprint)
    #expect(table.owners(of: id) == [Self.dave, carol].sorted())
    let subkey = try #require(table.keys[Self.dave]?.subkeys.first { $0.keyID == id }).fingerprint
    let named = Recipient(Self.dave, subkeys: [subkey])
    #expect(try table.encryptionSubkeys(of: [named], at: Engine.now).map(\.keyID) == [id])
    for person in [Self.dave, carol] {
      #expect(throws: EngineError.unusableKey(person, .sharedSubkey)) {
        try table.encryptionSubkeys(of: [Recipient(person)], at: Engine.now)
      }
    }
  }

  @Test(arguments: ["signing", "copied"])
  func `the signatures of a subkey belong to the person whose binding it has signed`(borrowed: String) throws
  {
    let home = try GnuPGHome()
    try home.run(["--import"], input: GnuPGKey.file("dave.secret"))
    let line = Array("{\"format\":1}".utf8)
    let message = try home.run(["--compress-algo", "none", "--sign"], input: line)
    let detached = try home.run(["--detach-sign"], input: line)
    let carol = GnuPGKey.file("carol.borrowed.\(borrowed)")
    let engine = Engine(
      locations: home.locations, keyringID: "test",
      keys: [Self.dave: GnuPGKey.dave.publicKey, GnuPGKey.carol.fingerprint: carol], interaction: .never)
    let facts =
      try engine.verifyMessages([message]) + engine.verifyMessages([message, message])
      + engine.verifyDetached(signature: detached, of: line)
    #expect(facts.count == 4)
    for fact in facts {
      #expect(fact?.primary == Self.dave && fact?.key == GnuPGKey.davesSubkeys.first && fact?.status == .good)
    }
    let alone = Engine(
      locations: home.locations, keyringID: "test", keys: [GnuPGKey.carol.fingerprint: carol],
      interaction: .never)
    #expect(try alone.verifyMessages([message, message]).allSatisfy { $0?.status == .bad })
  }
}
