import Encoding
import KeyringModel
import TestSupport
import Testing
@testable import CommandSupport
@testable import KeytreeCLI

@Suite("The difference of two policies", .serialized)
struct PolicyDifferenceTests {
  private let alice = GnuPGKey.alice.fingerprint
  private let bob = GnuPGKey.bob.fingerprint
  private let time = Timestamp(microseconds: 0)

  private func policy(_ change: (inout Policy) -> Void = { _ in }) throws -> Policy {
    var policy = Policy(
      keyring: try #require(KeyringID(hex: String(repeating: "0", count: 32))), generation: 1, previous: nil,
      people: [alice: Person(name: "Alice", role: .admin, added: time, encryptTo: [alice])],
      groups: ["default": [alice]])
    change(&policy)
    return policy
  }

  @Test("the difference names every person and every right that is added or removed")
  func lines() throws {
    let old = try policy()
    let new = try policy { policy in
      policy.people[bob] = Person(name: "Bob", role: .member, added: time, encryptTo: [bob])
      policy.groups["default"] = [alice, bob]
      policy.groups["ops"] = [bob]
    }
    #expect(PolicyDifference(from: old, to: old).lines.isEmpty)
    #expect(
      PolicyDifference(from: old, to: new).lines == [
        "+ \(bob.text)  Bob (member)", "+ Bob can read group default (\(bob.text))",
        "+ group ops: Bob",
      ])
    #expect(
      PolicyDifference(from: new, to: old).lines == [
        "- \(bob.text)  Bob (member)", "- Bob can read group default (\(bob.text))",
        "- group ops",
      ])
  }

  @Test("the difference shows a changed person as the old one and the new one")
  func change() throws {
    let new = try policy { $0.people[alice]?.removed = time }
    #expect(
      PolicyDifference(from: try policy(), to: new).lines == [
        "- \(alice.text)  Alice (admin)", "+ \(alice.text)  Alice (admin, removed \(time.day))",
      ])
  }
}
