package import Arguments
package import Keyring
package import KeyringModel
internal import Terminal

/// The confirmation of a change that lets more people read a secret.
package enum Widening {
  package static let option = OptionDeclaration(
    "widen", help: "do not ask, even if more people will be able to read it")
}

extension CommandCall {
  /// Asks the user before additional people can read the secret of an item.
  ///
  /// - Parameters:
  ///   - record: the item before the change.
  ///   - group: the new group of the secret; nil if it does not change.
  ///   - keyring: the keyring.
  /// - Throws: `cancelled`; `promptImpossible` if no prompt is possible.
  package func confirmWidening(_ record: ItemRecord, to group: String?, in keyring: Keyring) throws {
    guard let group, group != record.group, let members = keyring.policy.groups[group] else { return }
    let before = keyring.policy.groups[record.group] ?? []
    let new = members.filter { !before.contains($0) }
    if new.isEmpty { return }
    let names = new.map { keyring.policy.name(of: $0) }.joined(separator: ", ")
    console.say("Group \(ErrorReport.quote(group)) has more readers: \(names)")
    if arguments.has(Widening.option) { return }
    let item = name(of: record)
    guard try console.confirm("Let them read \(item)") else {
      throw TerminalError.cancelled(action: "the item was not moved")
    }
  }
}
