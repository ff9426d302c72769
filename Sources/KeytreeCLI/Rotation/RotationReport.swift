internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Terminal

/// `keytree rotate status`: the rotation list, as text or as JSON.
struct RotationReport {
  private let call: CommandCall

  init(_ call: CommandCall) { self.call = call }

  /// Prints the list.
  ///
  /// - Returns: `failedChecks` with `--fail-if-open`, for open entries and for a list that may be incomplete.
  /// - Throws: `KeyringError`, `GitError`, `SyncError`.
  func show() throws -> ExitCode {
    let keyring = try call.openKeyring()
    let rotations = try Rotations(call, keyring)
    let list = rotations.list
    defer { call.explain(keyring.engineStatistics) }
    if call.globals.json {
      for entry in list.entries where !call.console.outputIsClosed {
        call.console.write(members(entry, keyring.policy))
      }
      for gap in rotations.sortedGaps { call.console.write(gap.members) }
    } else {
      printTable(list, keyring.policy)
    }
    let counts = RotationList.State.allCases.map { ($0, list.entries($0).count) }
    call.console.say(
      list.entries.isEmpty
        ? "No secret has to be changed." : counts.map { "\($1) \($0.rawValue)" }.joined(separator: ", ") + "."
    )
    rotations.reportGaps(call.console)
    let isSettled = list.entries(.open).isEmpty && list.isComplete
    return isSettled || !call.arguments.has(RotateCommand.failIfOpen) ? .done : .failedChecks
  }

  private func printTable(_ list: RotationList, _ policy: Policy) {
    // The items and their readers are never truncated. On a terminal, items have their short names.
    let isTerminal = call.console.outputIsTerminal
    var table = Table(
      ["state", "item", "could be read by", "note"], isTerminal: isTerminal, cellWidth: nil,
      hasColor: call.environment.allowsColor)
    for entry in list.entries {
      let readers = entry.readers.map { $0.words(policy, group: entry.record.group) }
      let name = isTerminal ? entry.listLine : entry.name
      table.add([entry.state.rawValue, name, readers.joined(separator: "; "), note(entry, policy)])
    }
    call.console.write(table)
  }

  private func note(_ entry: RotationList.Entry, _ policy: Policy) -> String {
    var notes: [String] = []
    if entry.isDeleted, entry.state != .deleted { notes.append("deleted") }
    if let risk = entry.risk {
      notes.append("\(policy.name(of: risk.by)): \(risk.reason)")
    }
    return notes.joined(separator: "; ")
  }

  private func members(_ entry: RotationList.Entry, _ policy: Policy) -> [JSONMember] {
    var members = [
      JSONMember("deleted", .bool(entry.isDeleted)), JSONMember("group", .string(entry.record.group)),
      JSONMember("id", .string(entry.record.id.hex)),
      JSONMember("item", .string(entry.record.reference.text)),
      JSONMember("readers", .array(entry.readers.map { $0.json(policy) })),
      JSONMember("revision", .string(entry.record.revision.hex)),
      JSONMember("secretModified", .string(entry.record.secretModified.rfc3339)),
      JSONMember("state", .string(entry.state.rawValue)),
    ]
    if let risk = entry.risk {
      members.append(
        JSONMember(
          "accepted",
          .object([
            JSONMember("at", .string(risk.at.rfc3339)), JSONMember("by", .string(risk.by.text)),
            JSONMember("reason", .string(risk.reason)),
          ])))
    }
    return members
  }
}

extension RotationList.Entry {
  /// The name of the item in a list for people, with digits of the id as in ``name``.
  fileprivate var listLine: String {
    isDeleted ? "\(record.listLine)  #\(record.id.hex.prefix(8))" : record.listLine
  }

  /// The reference of the item. Digits of the id follow if the item was deleted, because it is then found by its id.
  var name: String {
    isDeleted ? "\(record.reference.text) #\(record.id.hex.prefix(8))" : record.reference.text
  }
}
