import Encoding
import Keyring
import KeyringModel
import Secrets
import Sync
import TestSupport

/// A command that the simulation runs at a seat.
enum SimulatedAction: String, CaseIterable {
  case add, replace, rotate, label, move, regroup, delete, resolve, undelete, reseal, repair, team, sync, jump

  /// The frequency of the command, compared with the others.
  var weight: Int {
    switch self {
    case .add: 16
    case .replace, .move: 10
    case .label, .regroup, .delete, .resolve: 6
    case .rotate, .undelete: 4
    case .team: 8
    case .reseal, .repair: 2
    case .jump: 3
    case .sync: 26
    }
  }

  static func random(using generator: inout some RandomNumberGenerator) -> SimulatedAction {
    var number = Int.random(in: 0..<allCases.reduce(0) { $0 + $1.weight }, using: &generator)
    for action in allCases {
      number -= action.weight
      if number < 0 { return action }
    }
    return .sync
  }
}

/// One command with random arguments, on the keyring of a seat.
struct SimulatedCommand {
  let seat: SimulatedSeat
  let world: SimulatedWorld
  let keyring: Keyring
  /// The secrets in the clone: the paths by secret.
  let texts: [String: Set<String>]
  /// A secret that no other command stores.
  let secret: String
  private(set) var intent = SimulationIntent()
  /// The arguments, for messages.
  private(set) var arguments = ""

  init(
    _ seat: SimulatedSeat, _ world: SimulatedWorld, _ keyring: Keyring, _ texts: [String: Set<String>],
    secret: String
  ) {
    (self.seat, self.world, self.keyring, self.texts, self.secret) = (seat, world, keyring, texts, secret)
  }

  private static let groups = ["default", "ops", "web"]

  /// Runs a command other than `sync` and `jump`.
  ///
  /// - Throws: The errors of the program.
  mutating func run(_ action: SimulatedAction, _ generator: inout SeededGenerator) throws {
    switch action {
    case .add: try add(&generator)
    case .replace: try replace(&generator)
    case .rotate: try rotate(&generator)
    case .label: try label(&generator)
    case .move: try move(&generator)
    case .regroup: try regroup(&generator)
    case .delete: try delete(&generator)
    case .resolve: try resolve(&generator)
    case .undelete: try undelete(&generator)
    case .reseal: _ = try keyring.reencryptOutdated(in: Set(own))
    case .repair: _ = try keyring.repair()
    case .team: try changePeople(&generator)
    case .sync, .jump: break
    }
  }

  /// The groups of this person.
  private var own: [String] { keyring.policy.groups(of: seat.person) }

  private func place(_ generator: inout SeededGenerator) -> (server: String, account: String) {
    let server = ["a", "b", "c", "d"].randomElement(using: &generator) ?? "a"
    let account = ["1", "2", "3", "4"].randomElement(using: &generator) ?? "1"
    return ("\(server).example", account)
  }

  /// Returns an item in a group of this person.
  private mutating func item(_ generator: inout SeededGenerator) throws -> ItemRecord? {
    let items = try keyring.find(Query()).items.filter { own.contains($0.group) }
    let item = items.randomElement(using: &generator)
    arguments = item.map { "\($0.path.text) of \($0.group), \(text(of: $0))" } ?? "nothing"
    return item
  }

  /// Returns the conflict copies in an order that does not depend on their random names, so that a seed can be repeated.
  private func copies() throws -> [ConflictCopy] {
    try keyring.conflictCopies().map { (text(at: $0.files[0]), $0) }
      .sorted { ($0.0, $0.1.record.path) < ($1.0, $1.1.record.path) }.map(\.1)
  }

  private func text(at file: String) -> String { texts.first { $0.value.contains(file) }?.key ?? "?" }

  private func text(of item: ItemRecord) -> String {
    text(at: StoreLayout.itemFile(item.path, isLocal: false))
  }

  private mutating func add(_ generator: inout SeededGenerator) throws {
    let (server, account) = place(&generator)
    var item = NewItem.login(server, account)
    item.group = own.randomElement(using: &generator) ?? GroupName.default
    arguments = "\(server) \(account) of \(item.group), \(secret)"
    intent.new = [secret]
    try keyring.add(item, secret: SecretBytes(text: secret))
  }

  private mutating func replace(_ generator: inout SeededGenerator) throws {
    guard let item = try item(&generator) else { return }
    arguments += " by \(secret)"
    intent = SimulationIntent(old: [text(of: item)], new: [secret], replaces: true)
    try keyring.update(item, secret: SecretBytes(text: secret))
  }

  /// Replaces a secret that former readers know.
  private mutating func rotate(_ generator: inout SeededGenerator) throws {
    let past = try HistoricalReaders(of: keyring, in: try seat.repository())
    let open = Set(try keyring.rotationList(of: past.items, past.readers).entries.map(\.record.id))
    let items = try keyring.find(Query()).items.filter { open.contains($0.id) && own.contains($0.group) }
    guard let item = items.randomElement(using: &generator) else { return }
    arguments = "\(item.path.text), \(text(of: item)) by \(secret)"
    intent = SimulationIntent(old: [text(of: item)], new: [secret], replaces: true)
    let bytes = SecretBytes(text: secret)
    if try keyring.replaceSecret(of: item, with: bytes) == nil { intent = SimulationIntent() }
  }

  private mutating func label(_ generator: inout SeededGenerator) throws {
    guard let item = try item(&generator) else { return }
    var set = Attributes()
    set[.label] = .string(secret)
    try keyring.update(item, AttributeChanges(set: set))
  }

  private mutating func move(_ generator: inout SeededGenerator) throws {
    guard let item = try item(&generator) else { return }
    let (server, account) = place(&generator)
    arguments += " to \(server) \(account)"
    var set = Attributes()
    set[.server] = .string(server)
    set[.account] = .string(account)
    try keyring.update(item, AttributeChanges(set: set))
  }

  private mutating func regroup(_ generator: inout SeededGenerator) throws {
    guard let item = try item(&generator), let group = own.randomElement(using: &generator) else { return }
    arguments += " to \(group)"
    try keyring.update(item, AttributeChanges(group: group))
  }

  private mutating func delete(_ generator: inout SeededGenerator) throws {
    guard let item = try item(&generator) else { return }
    intent.old = [text(of: item)]
    try keyring.delete([item])
  }

  /// The maximum number of conflicts that one command resolves. If it were 1, a long simulation would spend most of its
  /// time on copies.
  private static let resolutions = 16

  /// Resolves conflicts of different items.
  private mutating func resolve(_ generator: inout SeededGenerator) throws {
    var touched: Set<ItemPath> = []
    for copy in try copies().shuffled(using: &generator).prefix(Self.resolutions) {
      guard let choice = ConflictChoice.allCases.randomElement(using: &generator) else { return }
      let holder = try keyring.holder(of: copy)
      // The texts are those before the command.
      let places = Set([copy.record.path] + [holder?.path].compactMap { $0 })
      guard touched.isDisjoint(with: places) else { continue }
      touched.formUnion(places)
      let version = text(at: copy.files[0])
      arguments += " \(copy.record.path.text) \(choice), \(version), \(holder.map(text) ?? "nothing")"
      switch choice {
      case .item: intent.old.insert(version)
      case .copy: intent.old.formUnion([holder.map(text)].compactMap { $0 })
      case .both: break
      }
      // This may have put the item at another path, where a later copy of it must not be resolved.
      touched.formUnion(try keyring.resolve(copy, keeping: choice).map(\.path))
    }
  }

  private mutating func undelete(_ generator: inout SeededGenerator) throws {
    let repository = try seat.repository()
    let removals = try RemovedItems(below: [StoreLayout.items], in: repository).removals
    guard let removal = removals.randomElement(using: &generator),
      let store = try HistoricalStore(at: removal.parent, in: repository)
    else { return }
    let past = try store.item(at: removal.record.path, in: keyring)
    let secret = try? keyring.secret(of: past)
    guard let text = secret?.text() else { return }
    arguments = "\(removal.record.path.text), \(text)"
    intent.new = [text]
    try keyring.bringBack([past])
  }

  // MARK: People

  private mutating func changePeople(_ generator: inout SeededGenerator) throws {
    guard keyring.policy.admins.contains(seat.person) else { return }
    guard let edit = edits.randomElement(using: &generator) else { return }
    arguments = "\(edit)"
    let keys = edit.contains { if case .add = $0 { true } else { false } } ? world.keyFiles : [:]
    let added = keys.filter { !keyring.policy.isMember($0.key) }
    let change = try keyring.plan(edit, newKeys: added)
    // As each command does, so that every policy has its own commit.
    try seat.commit()
    _ = try keyring.make(change)
  }

  /// The possible changes of people and groups. Alice is never removed.
  private var edits: [[PolicyEdit]] {
    let policy = keyring.policy
    var edits: [[PolicyEdit]] = []
    for group in Self.groups where policy.groups[group] == nil {
      edits.append([.create(group: group), .join(seat.person, group: group)])
    }
    for person in world.seats.dropFirst(2).map(\.person) {
      guard policy.isMember(person) else {
        edits += [world.edits(adding: person), world.edits(adding: person)]
        continue
      }
      if person != seat.person { edits.append([.remove(person)]) }
      for (group, members) in policy.groups.sorted(by: { $0.key < $1.key }) {
        if members.contains(person) {
          if person != seat.person { edits.append([.leave(person, group: group)]) }
        } else {
          edits.append([.join(person, group: group)])
        }
      }
    }
    return edits
  }
}
