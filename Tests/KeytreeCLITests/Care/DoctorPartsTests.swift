import Encoding
import KeyringModel
import OpenPGP
import TestSupport
import Testing

@testable import KeytreeCLI

/// The diagnoses of `doctor` for conditions that are hard to produce on a machine.
@Suite("Doctor's judgement", .serialized)
struct DoctorPartsTests {
  @Test(
    "the severity of a line in gpg.conf depends on the owner of the file",
    arguments: [
      ("encrypt-to X", "note", nil), ("# encrypt-to X", nil, nil), ("", nil, nil),
      ("--group a = b", "note", "wrong"), ("  rfc2440  ", "note", "wrong"), ("armor", "note", "wrong"),
      ("cipher-algo 3des", "note", "note"), ("trust-model pgp", "note", nil),
      ("trust-model  always", "note", "note"), ("keyid-format long", nil, nil),
    ] as [(String, String?, String?)])
  func configuration(line: String, user: String?, machine: String?) {
    func states(_ owner: GnuPGConfiguration.Owner) -> [String] {
      GnuPGConfiguration.examine("no-greeting\n" + line, path: "/x", owner: owner).map(\.state.rawValue)
    }
    #expect(states(.user) == [user].compactMap { $0 })
    #expect(states(.machine) == [machine].compactMap { $0 })
  }

  @Test func `the time of a protected key is reported with the settings that change it`() throws {
    #expect(KeyTime(time: nil, gnupgHome: "/g").diagnoses.isEmpty)
    let diagnosis = try #require(KeyTime(time: .microseconds(104_400), gnupgHome: "/g").diagnoses.first)
    #expect(diagnosis.state == .note)
    #expect(diagnosis.text.contains("takes 104 ms"))
    let advice = try #require(diagnosis.advice)
    for part in ["`s2k-count` in /g/gpg-agent.conf", "`gpg --passwd`", "`default-cache-ttl`"] {
      #expect(advice.contains(part))
    }
  }

  @Test(
    "a key over a restricted socket is tested only if a prompt is allowed",
    arguments: [
      (false, nil, "wrong", "nothing was tested"), (true, nil, "note", "a few bytes were encrypted"),
      (true, .cancelled, "note", "nothing was tested"), (true, .corrupt, "wrong", "the test message"),
    ] as [(Bool, EngineError?, String, String)])
  func restrictedSocket(mayAsk: Bool, second: EngineError?, state: String, text: String) {
    var mayPrompt: [Bool] = []
    let trip = RoundTrip(mayAsk: mayAsk) { interaction in
      let prompts = if case .pinentry = interaction { true } else { false }
      mayPrompt.append(prompts)
      return mayPrompt.count == 1 ? .restrictedAgent : second
    }
    let (diagnosis, failure) = trip.run()
    #expect(failure == .restrictedAgent)
    #expect(mayPrompt == (mayAsk ? [false, true] : [false]))
    #expect(diagnosis.state.rawValue == state)
    #expect(diagnosis.text.contains(text))
    #expect(diagnosis.text.contains("its restricted socket") == (second != .corrupt))
  }

  private let now = Timestamp(microseconds: 1_800_000_000_000_000)

  private func days(_ count: Int64) -> Timestamp {
    Timestamp(microseconds: now.microseconds + count * 86_400_000_000)
  }

  private func key(
    expires: Timestamp? = nil, subkeyExpires: Timestamp? = nil, revoked: Bool = false, disabled: Bool = false
  ) throws -> PublicKey {
    let fingerprint = GnuPGKey.alice.fingerprint
    let id = try #require(KeyID(String(fingerprint.text.suffix(16))))
    let created = Timestamp(microseconds: 1)
    let revocation = revoked ? KeyRevocation(created: created, reason: .superseded) : nil
    let primary = PublicKey.Subkey(
      fingerprint: fingerprint, keyID: id, canEncrypt: false, canSign: true, created: created,
      expires: expires, revocation: revocation, disabled: disabled, invalid: false)
    let subkey = PublicKey.Subkey(
      fingerprint: GnuPGKey.bob.fingerprint, keyID: id, canEncrypt: true, canSign: false, created: created,
      expires: subkeyExpires, revocation: revocation, disabled: disabled, invalid: false)
    return PublicKey(
      fingerprint: fingerprint, userIDs: ["Alice"], subkeys: [primary, subkey], hasSecret: false)
  }

  private func judge(_ stored: PublicKey?, ring: PublicKey? = nil, isMine: Bool = true) throws -> Diagnosis {
    let fingerprint = GnuPGKey.alice.fingerprint
    let policy = Policy(
      keyring: KeyringID(hex: String(repeating: "0", count: 32)) ?? { preconditionFailure("an id") }(),
      generation: 1, previous: nil,
      people: [
        fingerprint: Person(name: "Alice", role: .admin, added: now, encryptTo: [GnuPGKey.bob.fingerprint])
      ],
      groups: ["default": [fingerprint]])
    let examination = KeyExamination(own: isMine ? [try key()] : [], now: now)
    let list = examination.people(
      of: policy, mine: [fingerprint], keys: stored.map { [$0] } ?? [],
      problems: [:], ring: ring.map { [fingerprint: $0] } ?? [:],
      path: "/store")
    return try #require(list.first)
  }

  @Test("a key that expires in 60 days or less is a note")
  func soon() throws {
    #expect(try judge(key()).state == .ok)
    #expect(try judge(key(expires: days(61))).state == .ok)
    for end in [0, 1, 60] as [Int64] {
      #expect(try judge(key(expires: days(end) == now ? days(1) : days(end))).state == .note)
      #expect(try judge(key(subkeyExpires: days(max(end, 1)))).state == .note)
    }
    #expect(try judge(key(expires: now)).state == .wrong)
    #expect(try judge(key(subkeyExpires: days(-1))).state == .wrong)
  }

  @Test("a diagnosis of a key includes what only the user's own keyring knows")
  func ring() throws {
    #expect(try judge(nil).text.contains("does not contain it"))
    #expect(try judge(key(), ring: key(revoked: true)).text.contains("but not yet in the store"))
    #expect(try judge(key(), ring: key(disabled: true)).text.contains("you have disabled it"))
    let stale = try judge(key(expires: days(-1)), ring: key(expires: days(900)))
    #expect(stale.state == .wrong && stale.advice?.contains("keytree group refresh") == true)
    #expect(try judge(key(), isMine: false).text.contains("its secret key is not available"))
  }
}
