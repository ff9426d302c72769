import Keyring
import KeyringModel
import Secrets
import Sync
import TestSupport

extension Simulation {
  /// Makes known changes at two clones after all clones have become equal, and expects exactly these changes in each of
  /// them: deleted items and resolved conflicts do not come back, and an item keeps both its new label and its new
  /// secret.
  ///
  /// - Parameter members: The seats whose people are still members.
  /// - Throws: `SimulationFailure`.
  mutating func checkLastChanges(_ members: [SimulatedSeat]) throws {
    let first = world.seats[0]
    let second = members.first { $0.person != first.person } ?? world.seats[1]
    note("last changes at \(first) and \(second)")
    let expected = try makeLastChanges(first, second)
    for _ in 0..<3 { for seat in world.seats { try world.sync(seat, addsReaders: true) } }
    for seat in members {
      let (now, texts) = (try world.texts(seat), expected.texts)
      guard now == texts else {
        let names = Set(now.keys).union(texts.keys).filter { now[$0] != texts[$0] }.sorted()
        let wrong = names.map { "\($0) in \(now[$0] ?? []) instead of \(texts[$0] ?? [])" }
        throw SimulationFailure("\(seat) differs after the last changes: \(wrong)")
      }
      for item in try seat.open().find(Query()).items {
        guard let label = expected.labels[item.id], item.attributes[.label] != .string(label) else {
          continue
        }
        throw SimulationFailure("\(seat): \(item.path.text) has lost its label")
      }
    }
  }

  /// Resolves all conflicts, deletes every second item that both people can read, and changes the other ones: the first
  /// person the label, the second one the secret.
  ///
  /// - Returns: The secrets with their files and the labels that all clones must have after they have synchronized.
  private func makeLastChanges(
    _ first: SimulatedSeat, _ second: SimulatedSeat
  ) throws -> (texts: [String: Set<String>], labels: [ItemID: String]) {
    let (keyring, other) = (try first.open(), try second.open())
    let own = Set(keyring.policy.groups(of: first.person))
    let both = own.intersection(keyring.policy.groups(of: second.person))
    var texts = try world.texts(first)
    var labels: [ItemID: String] = [:]
    func release(_ file: String) {
      for text in texts.keys { texts[text]?.remove(file) }
    }
    for copy in try keyring.conflictCopies() where own.contains(copy.record.group) {
      guard try keyring.holder(of: copy) != nil else { continue }
      try keyring.resolve(copy, keeping: .item)
      for file in copy.files { release(file) }
    }
    let unreadable = try keyring.outdatedItems(in: both)
    guard unreadable.isEmpty else {
      throw SimulationFailure("not all members can read \(unreadable.map(\.path.text))")
    }
    let items = try keyring.find(Query()).items.filter { both.contains($0.group) }
    for (number, item) in items.sorted(by: { $0.path < $1.path }).enumerated() {
      let file = StoreLayout.itemFile(item.path, isLocal: false)
      release(file)
      if number.isMultiple(of: 2) {
        try keyring.delete([item])
        continue
      }
      try keyring.update(item, .set(.label, .string("label \(number)")))
      try other.update(item, secret: SecretBytes(text: "last \(number)"))
      texts["last \(number)"] = [file]
      labels[item.id] = "label \(number)"
    }
    try first.commit()
    try second.commit()
    return (texts.filter { !$0.value.isEmpty }, labels)
  }
}
