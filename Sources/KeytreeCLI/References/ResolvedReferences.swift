internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Secrets

/// The secrets of the named items: all or none.
struct ResolvedReferences {
  // Keyed by place, so that an index line with the id of another item does not get that item's secret.
  private var items: [ItemName: ItemRecord] = [:]
  private var secrets: [ItemPlace: SecretSlice] = [:]

  /// Finds all items first, so that nothing is decrypted if one is missing, and then decrypts each one once.
  ///
  /// - Parameters:
  ///   - names: references or other names of items, possibly with repetitions; each with its text for messages.
  ///   - call: the command, which reports the cost of the search and the decryption.
  /// - Throws: `noMatch` with the first name that no item has, `noMatchButDamage`, `ambiguous`; `KeyringError`.
  init(_ names: [(name: ItemName, text: String)], _ call: CommandCall) throws {
    // Without a name no store is needed.
    if names.isEmpty { return }
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    keyring.warmUp()
    var found: [(record: ItemRecord, query: Query)] = []
    for (name, text) in names where items[name] == nil {
      let selection = try call.selection(name, of: GivenAttributes())
      let matches = try call.find(selection, in: keyring.index)
      call.explain(matches.statistics)
      guard let record = matches.items.first else {
        throw matches.problems.isEmpty
          ? try call.noMatch(selection, text, in: keyring.index) : CommandError.noMatchButDamage(text)
      }
      // In an honest store an id is unique, but a member can sign a second item with the id of another one.
      guard matches.items.count == 1 else {
        throw CommandError.ambiguous(text, candidates: call.names(of: matches.items))
      }
      items[name] = record
      if !found.contains(where: { $0.record.place == record.place }) {
        found.append((record, selection.query(forChosen: record)))
      }
    }
    for (record, query) in found {
      secrets[record.place] = SecretSlice(try keyring.secret(for: record, matching: query))
    }
  }

  /// Returns the secret of a resolved name.
  subscript(name: ItemName) -> SecretSlice {
    guard let secret = secrets[record(of: name).place] else {
      preconditionFailure("the name was not resolved")
    }
    return secret
  }

  /// Returns the item of a resolved name.
  func record(of name: ItemName) -> ItemRecord {
    guard let record = items[name] else { preconditionFailure("the name was not resolved") }
    return record
  }
}
