package import Arguments
package import Keyring
package import KeyringModel
internal import Terminal

/// The check whether more people than before can read a secret.
package enum Widening {
  package static let option = OptionDeclaration(
    "widen", help: "without a question when more people will be able to read it")
}

extension CommandCall {
  /// Asks before the secret of an item gets readers that it does not have.
  ///
  /// - Parameters:
  ///   - record: The item as it is.
  ///   - group: The group that the secret is to be in; nil where it stays.
  ///   - keyring: The keyring.
  /// - Throws: `cancelled`; `promptImpossible` where nobody can answer.
  package func confirmWidening(_ record: ItemRecord, to group: String?, in keyring: Keyring) throws {
    guard let group, group != record.group, let members = keyring.policy.groups[group] else { return }
    let before = keyring.policy.groups[record.group] ?? []
    let new = members.filter { !before.contains($0) }
    if new.isEmpty { return }
    let names = new.map { keyring.policy.name(of: $0) }.joined(separator: ", ")
    console.say("Group \(ErrorReport.quote(group)) has more readers: \(names)")
    if arguments.has(Widening.option) { return }
    let item = record.reference.text
    guard try console.confirm("Let them read \(item)") else {
      throw TerminalError.cancelled(action: "the item stays where it is")
    }
  }
}
