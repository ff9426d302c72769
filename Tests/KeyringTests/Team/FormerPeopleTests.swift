import Keyring
import KeyringModel
import OpenPGP
import TestSupport
import Testing

/// Tests the owners of keys in messages, including people who were removed.
@Suite(.serialized) struct FormerPeopleTests {
  @Test func `every subkey of a removed person still belongs to that person`() throws {
    let world = try TeamWorld([.alice, .several])
    try world.add([.several])
    try world.remove(.several)
    let (alice, several) = (try world.keyIDs(.alice), try world.keyIDs(.several))
    #expect(several.count > 2)
    let found = try world.open(.alice).owners(of: alice.union(several).union([.hidden, KeyID(value: 7)]))
    let expected = [
      GnuPGKey.alice.fingerprint: alice, GnuPGKey.several.fingerprint: several,
    ]
    for (person, ids) in expected {
      #expect(Set(found.filter { $0.value == [person] }.keys) == ids)
    }
    #expect(found.count == alice.count + several.count, "the owners of other keys are unknown")
    // The engine home exists from now on.
    let keyring = try world.open(.alice)
    _ = try keyring.owners(of: several)
    #expect(keyring.engineStatistics.processes == 0)
  }

  @Test("a key file that differs from the one in the policy names no owner", arguments: [nil, GnuPGKey.bob])
  func exchanged(_ other: GnuPGKey?) throws {
    let world = try TeamWorld([.alice, .several])
    try world.add([.several])
    try world.remove(.several)
    let file = StoreLayout.keyFile(GnuPGKey.several.fingerprint)
    if let other {
      try world.tree().replaceFile(file, with: other.publicKey, temporary: "tmp")
    } else {
      try world.tree().remove(file)
    }
    #expect(try world.open(.alice).owners(of: world.keyIDs(.several)).isEmpty)
  }
}
