internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Terminal

/// The groups of a keyring, as text or as JSON.
struct GroupList {
  private let keyring: Keyring

  init(_ keyring: Keyring) { self.keyring = keyring }

  /// Prints one line for each group.
  func print(_ call: CommandCall) throws {
    var all = Query()
    all.includesFields = true
    let matches = try keyring.find(all)
    let items = matches.items.reduce(into: [:]) { $0[$1.group, default: 0] += 1 }
    // The members of a group are never truncated.
    var table = Table(
      ["group", "items", "members"], isTerminal: call.console.outputIsTerminal, cellWidth: nil)
    for (name, members) in keyring.policy.groups.sorted(by: { $0.key < $1.key }) {
      if call.globals.json {
        call.console.print(
          json: .object([
            JSONMember("group", .string(name)), JSONMember("items", .integer(Int64(items[name] ?? 0))),
            JSONMember("members", .array(members.map { .string($0.text) })),
          ]))
      } else {
        let count = items[name] ?? 0
        let names = members.map { keyring.policy.name(of: $0) }.joined(separator: ", ")
        table.add([name, count == 1 ? "1 item" : "\(count) items", names])
      }
    }
    call.console.write(table)
  }

  /// Prints one line for each member of a group.
  ///
  /// - Throws: `KeyringError` with `unknownGroup`.
  func printMembers(of group: String, _ call: CommandCall) throws {
    guard let members = keyring.policy.groups[group] else { throw KeyringError.unknownGroup(group) }
    for member in members {
      guard let person = keyring.policy.people[member] else { continue }
      if call.globals.json {
        call.console.print(
          json: .object([
            JSONMember("fingerprint", .string(member.text)), JSONMember("name", .string(person.name)),
            JSONMember("role", .string(person.role.rawValue)),
          ]))
      } else {
        call.console.print(
          wrapping: person.line(member, isMe: member == keyring.ownFingerprint), indent: 2)
      }
    }
  }
}
