internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Secrets

/// The secrets that references name: all or none.
struct ResolvedReferences {
  // Keyed by place, so that an index line with the id of another item does not get that item's secret.
  private var items: [ItemReference: ItemPlace] = [:]
  private var secrets: [ItemPlace: SecretSlice] = [:]

  /// Finds all items first, so that nothing is decrypted if one is missing, and then decrypts each one once.
  ///
  /// - Parameters:
  ///   - references: the references, possibly with repetitions.
  ///   - call: the command, which reports the cost of the search and the decryption.
  /// - Throws: `noMatch` with the first reference that names no item, `noMatchButDamage`, `ambiguous`; `KeyringError`.
  init(_ references: [ItemReference], _ call: CommandCall) throws {
    // Without a reference no store is needed.
    if references.isEmpty { return }
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    keyring.warmUp()
    var found: [(record: ItemRecord, query: Query)] = []
    for reference in references where items[reference] == nil {
      let selection = try call.selection(.reference(reference), of: GivenAttributes())
      let matches = try call.find(selection, in: keyring.index)
      call.explain(matches.statistics)
      guard let record = matches.items.first else {
        throw matches.problems.isEmpty
          ? CommandError.noMatch(reference.text) : .noMatchButDamage(reference.text)
      }
      // In an honest store an id is unique, but a member can sign a second item with the id of another one.
      guard matches.items.count == 1 else {
        throw CommandError.ambiguous(reference.text, candidates: matches.items.map(\.reference.text))
      }
      items[reference] = record.place
      if !found.contains(where: { $0.record.place == record.place }) {
        found.append((record, selection.query(for: record) ?? selection.query))
      }
    }
    for (record, query) in found {
      secrets[record.place] = SecretSlice(try keyring.secret(for: record, matching: query))
    }
  }

  /// Returns the secret of a resolved reference.
  subscript(reference: ItemReference) -> SecretSlice {
    guard let place = items[reference], let secret = secrets[place] else {
      preconditionFailure("the reference was not resolved")
    }
    return secret
  }
}
