import Encoding
import Foundation
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tests what happens to the records of a person when the key with which they signed changes.
@Suite(.serialized, .waits) struct ChangedKeyTests {
  private static let dave = GnuPGKey.dave.fingerprint
  private let world: TeamWorld
  private let items: [ItemRecord]

  init() throws {
    let now = Clock(start: Int64(Date().timeIntervalSince1970 * 1_000_000))
    world = try TeamWorld([.alice, .dave], clock: now)
    try world.add([.dave])
    try world.trust(.dave)
    items = try world.addItems(2, by: .dave)
  }

  /// Adds a signing subkey to dave's key, and revokes the one that signed the items.
  ///
  /// - Parameters:
  ///   - reason: The number of the reason in the menu of gpg.
  ///   - time: The time of the revocation; nil for now.
  private func revoke(_ reason: Int, at time: String? = nil) throws {
    let home = world.gnupg(.dave)
    let silent = ["--pinentry-mode", "loopback", "--passphrase", ""]
    try home.run(silent + ["--quick-add-key", Self.dave.text, "ed25519", "sign", "0"])
    let clock = time.map { ["--faked-system-time", $0] } ?? []
    let lines = "key 2\nrevkey\ny\n\(reason)\n\ny\nsave\n"
    try home.run(
      clock + ["--command-fd", "0"] + silent + ["--edit-key", Self.dave.text], input: Array(lines.utf8))
  }

  /// Imports dave's key as alice. Returns the items that she signs anew.
  private func refresh() throws -> [ItemRecord] {
    let exported = try world.gnupg(.dave).run(["--armor", "--export", Self.dave.text])
    let file = try KeyFile(reading: [exported], locations: world.gnupg(.alice).locations)
    let alice = try world.open(.alice)
    let edits = [PolicyEdit.key(Self.dave, ContentDigest(of: file.bytes))]
    let change = try alice.plan(edits, newKeys: [Self.dave: file.bytes])
    _ = try alice.make(change)
    return change.resignedItems
  }

  private func expectAllReadable() throws {
    for person in [GnuPGKey.alice, .dave] {
      let keyring = try world.open(person)
      #expect(keyring.distrust == nil)
      for (number, item) in items.enumerated() { #expect(try keyring.text(of: item) == "secret \(number)") }
      #expect(try keyring.check().findings.isEmpty)
    }
    // The new subkey signs.
    let record = try world.open(.dave).add(.login("new.example", "me"), secret: SecretBytes(text: "x"))
    #expect(try world.open(.alice).text(of: record) == "x")
  }

  @Test(arguments: [2, 3])
  func `records stay valid when the subkey that signed them is superseded or retired later`(reason: Int)
    throws
  {
    // Far later than the signatures, so that both never have the same second.
    try revoke(reason, at: "20990101T000000")
    #expect(try refresh().isEmpty)
    try expectAllReadable()
  }

  @Test(arguments: [1, 0])
  func `records of a compromised subkey are signed anew by the admin who imports the revocation`(
    reason: Int
  ) throws {
    try revoke(reason)
    #expect(Set(try refresh().map(\.path)) == Set(items.map(\.path)))
    try expectAllReadable()
  }

  @Test func `a record of a compromised subkey is refused with the key and the reason`() throws {
    let claims = try items.map { item in
      let bytes = try #require(try world.tree().read("items/\(item.path.text).json", limit: 1 << 20))
      return RecordClaim(bytes, path: item.path)
    }
    #expect(try world.open(.alice).verify(claims).allSatisfy { (try? $0.get().signer) == Self.dave })
    try revoke(1)
    _ = try refresh()
    // The old versions, as they are in the history.
    for result in try world.open(.alice).verify(claims) {
      guard
        case .failure(.damage(.invalidSigner(GnuPGKey.davesSubkeys.first, .revoked(let revocation)))) = result
      else {
        Issue.record("\(result)")
        continue
      }
      #expect(revocation.reason == .compromised)
    }
  }

  @Test func `verifying has one finding, which blames the clock, if keys are from the future`() throws {
    let forge = PolicyForge(world.gnupg(.alice), store: world.path)
    let future = GnuPGKey.future.fingerprint
    try forge.succeed(
      [PolicyForge.adding(.future), .create(group: "guests"), .join(future, group: "guests")], by: .alice)
    let room = try VerificationWorkspace(host: world.host(.alice))
    defer { room.remove() }
    let result = try Keyring.forVerification(at: world.path, in: room).verify(in: room)
    let problem = KeyProblem.fromFuture(Timestamp(microseconds: 4_102_444_800_000_000))
    #expect(result.findings == [Finding(StoreLayout.keyFile(future), .key(future, problem))])
    // What the others have stored is still read.
    #expect(try world.open(.dave).text(of: items[0]) == "secret 0")
  }
}
