import Foundation
import Keyring
import KeyringModel
import Sync
import TestSupport

/// A day of two machines and three people: random commands with random kills, full disks and clock jumps, compared with
/// a model in memory.
struct Simulation {
  let seed: UInt64
  let world: SimulatedWorld
  var model = SimulationModel()
  private var generator: SeededGenerator
  /// The commands so far, for messages.
  private(set) var log: [String] = []
  private var commands = 0
  /// The numbers of commands, of injected faults, and of conflict copies that synchronizations have created.
  private(set) var counts = (done: 0, failed: 0, faults: 0, copies: 0, refused: 0, unsent: 0)
  /// The records that synchronizations have refused.
  private var refusedFiles: Set<String> = []
  /// The secrets that others have refused: the clones that have lost them, and the items that had them there.
  private(set) var abandoned: [(text: String, seat: SimulatedSeat, items: Set<SimulatedItem>)] = []
  /// The number of commands that a failure shows. `KEYTREE_SIMULATION_LOG=1000` shows more of them.
  private static let logLength =
    ProcessInfo.processInfo.environment["KEYTREE_SIMULATION_LOG"].flatMap { Int($0) } ?? 40

  init(seed: UInt64, in world: SimulatedWorld) {
    (self.seed, self.world) = (seed, world)
    generator = SeededGenerator(seed: seed)
  }

  /// Runs commands, then synchronizes until all clones are equal, and checks the result.
  ///
  /// - Parameter count: The number of commands.
  /// - Throws: `SimulationFailure` with the seed and the last commands.
  mutating func run(_ count: Int) throws {
    do {
      for _ in 0..<count { try step() }
      try finish()
    } catch {
      let last = log.suffix(Self.logLength).joined(separator: "\n")
      throw SimulationFailure("seed \(seed): \(error)\n\(last)")
    }
  }

  mutating func note(_ text: String) { log.append(text) }

  private mutating func step() throws {
    commands += 1
    let seat = world.seats[Int.random(in: world.seats.indices, using: &generator)]
    let action = SimulatedAction.random(using: &generator)
    let mode = FaultInjector.Mode.allCases.randomElement(using: &generator) ?? .isKilled
    let point = Int.random(in: 1...(action == .sync ? 150 : 40), using: &generator)
    let faults = Int.random(in: 0..<6, using: &generator) == 0 ? FaultInjector(at: point, mode) : nil
    switch action {
    case .jump:
      let seconds = Int64.random(in: -200_000...200_000, using: &generator)
      log.append("\(commands) \(seat) jump \(seconds)")
      seat.clock.jump(bySeconds: seconds)
    case .sync: try sync(seat, faults)
    default: try perform(action, at: seat, faults)
    }
  }

  private mutating func perform(
    _ action: SimulatedAction, at seat: SimulatedSeat, _ faults: FaultInjector?
  ) throws {
    let before = try world.texts(seat)
    let records = try records(seat)
    var intent = SimulationIntent()
    var problem: (any Error)?
    log.append("\(commands) \(seat) \(action)")
    do {
      let keyring = try seat.open(faults: faults?.plan)
      var command = SimulatedCommand(seat, world, keyring, before, secret: "s\(seed).\(commands)")
      defer {
        intent = command.intent
        log[log.count - 1] += " \(command.arguments)"
      }
      try command.run(action, &generator)
      try seat.commit(faults: faults?.plan)
    } catch {
      problem = error
    }
    try report(problem, faults)
    if problem != nil, faults?.hasInjected ?? false { try? seat.recover() }
    try model.note(seat.number, before, try world.texts(seat), intent, isDone: problem == nil)
    // A synchronization is checked at the end. The other actions encrypt nothing.
    let encrypts: Set<SimulatedAction> = [.add, .replace, .rotate, .regroup, .undelete, .team, .reseal]
    if problem == nil, encrypts.contains(action) { try checkReaders(seat, since: records) }
  }

  /// Counts a result, and throws an error that the program must not report without a fault. A command may be refused,
  /// but a synchronization must always be possible.
  private mutating func report(
    _ problem: (any Error)?, _ faults: FaultInjector?, isSync: Bool = false
  ) throws {
    let isInjected = faults?.hasInjected ?? false
    if isInjected { counts.faults += 1 }
    guard let problem else {
      counts.done += 1
      return
    }
    counts.failed += 1
    log[log.count - 1] += isInjected ? " (fault)" : " (\(problem))"
    if isInjected || (problem is KeyringError && !isSync) { return }
    throw problem
  }

  /// Synchronizes a clone, and expects that it loses only secrets that were replaced or deleted somewhere.
  mutating func sync(
    _ seat: SimulatedSeat, _ faults: FaultInjector? = nil, addsReaders: Bool = false
  ) throws {
    let before = try world.texts(seat)
    let items = try before.mapValues { try world.items(at: $0, seat) }
    var problem: (any Error)?
    var named: Set<SimulatedItem>?
    log.append("\(commands) \(seat) sync")
    do {
      let result = try world.sync(seat, faults: faults?.plan, addsReaders: addsReaders)
      counts.copies += result.newCopies
      counts.refused += result.refused.count
      refusedFiles.formUnion(result.refused.map(\.path))
      // After their author has joined the group again, they look like items that others have deleted.
      let deleted = result.deletions.map(\.record).filter {
        refusedFiles.contains(StoreLayout.recordFile($0.path, isLocal: false))
      }
      named = Set(
        (result.abandoned.map(\.record) + deleted).map { SimulatedItem(id: $0.id, path: $0.path) })
      log[log.count - 1] += " \(Self.text(of: result))"
    } catch {
      problem = error
    }
    try report(problem, faults, isSync: true)
    if problem != nil, faults?.hasInjected ?? false { try? seat.recover() }
    let lost = Set(before.keys).subtracting(try world.texts(seat).keys)
    for text in lost where !model.isReleased(text) {
      guard isRefusal(of: text, before[text] ?? [], items[text] ?? [], seat, named) else { continue }
      counts.unsent += 1
      model.noteRefusal(of: text)
      abandoned.append((text, seat, items[text] ?? []))
    }
    let wrong = try lost.filter { text in
      if model.isReleased(text) { return false }
      // Others have refused a version by name. Its author still has it, and will be told.
      let isRefused =
        before[text]?.allSatisfy { file in
          refusedFiles.contains(
            file.dropLast(StoreLayout.secretExtension.utf8.count) + StoreLayout.recordExtension)
        } ?? false
      guard model.wasBroughtBack(text) || isRefused else { return true }
      return try !world.seats.contains { try $0.path != seat.path && world.texts($0)[text] != nil }
    }.sorted()
    guard wrong.isEmpty else {
      throw SimulationFailure("\(seat) has lost \(wrong.map { "\($0) \(before[$0] ?? [])" }) in a sync")
    }
  }

  /// Returns true if others have refused a secret of a person who was removed from the group of its item. The report of
  /// the synchronization that takes it back must name the item, unless it was interrupted; the history must name it in
  /// any case, which is checked at the end.
  private func isRefusal(
    of text: String, _ files: Set<String>, _ items: Set<SimulatedItem>, _ seat: SimulatedSeat,
    _ named: Set<SimulatedItem>?
  ) -> Bool {
    guard model.secrets[text]?.authors.contains(where: { world.seats[$0].person == seat.person }) == true
    else { return false }
    guard let named else { return true }
    // A conflict copy is a version of an item, and its history is that of the item.
    return files.allSatisfy { $0.hasPrefix("\(StoreLayout.conflicts)/") } || !items.isDisjoint(with: named)
  }

  private static func text(of report: Synchronization.Report) -> String {
    var words = ["received \(report.received)", "sent \(report.sent)"]
    if report.newCopies > 0 { words.append("copies \(report.newCopies)") }
    if report.signed > 0 { words.append("signed \(report.signed)") }
    if report.signedAgain > 0 { words.append("signed again \(report.signedAgain)") }
    if report.hasNewPolicy { words.append("policy") }
    words += report.refused.map { "refused \($0.path) \($0.reason)" }
    words += report.abandoned.map { "abandoned \($0.record.path.text)\($0.isReplaced ? ", replaced" : "")" }
    if report.withheld > 0 { words.append("withheld \(report.withheld)") }
    words += report.deletions.map { "deleted \($0.record.path.text)" }
    words += report.olderVersions.map { "older \($0.path.text)" }
    return words.joined(separator: ", ")
  }
}
