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

  @Test("the difference shows the subkeys that items will be encrypted to, and which key replaces another")
  func keys() throws {
    let old = try policy {
      $0.people[bob] = Person(name: "Bob", role: .member, added: time, encryptTo: [bob])
    }
    let new = try policy { policy in
      policy.people[alice]?.encryptTo = [bob]
      policy.people[bob] = Person(
        name: "Bob", role: .member, added: time, removed: time, replacedBy: alice, encryptTo: [bob])
    }
    #expect(
      PolicyDifference(from: old, to: new).lines == [
        "- \(bob.text)  Bob (member)",
        "+ \(bob.text)  Bob (member, removed \(time.day), replaced by \(alice.text))",
        "+ items are encrypted to subkey \(bob.text.suffix(16)) of Alice (\(alice.text))",
        "- items are encrypted to subkey \(alice.text.suffix(16)) of Alice (\(alice.text))",
      ])
    let json = String(decoding: new.peopleJSON.canonicalBytes, as: UTF8.self)
    #expect(
      json.contains("\"encryptTo\":[\"\(bob.text)\"]") && json.contains("\"replacedBy\":\"\(alice.text)\""))
  }

  @Test("a name of 2,000 characters is shown shortened, with the address at its end")
  func longName() throws {
    let name = String(repeating: "x", count: 1960) + " <alice@example.org>"
    let new = try policy { $0.people[alice]?.name = name }
    let lines = PolicyDifference(from: try policy(), to: new).lines
    #expect(lines.count == 2 && lines.allSatisfy { $0.utf8.count < 200 }, "\(lines)")
    #expect(lines[1].contains("<alice@example.org> (admin)"), "\(lines)")
    #expect(new.name(of: alice).utf8.count < 120)
  }
}
