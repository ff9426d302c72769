import Glibc
import Keyring
import KeyringModel
import OpenPGP
import TestSupport
import Testing

@testable import SecretService

/// Tests locking and prompts.
@Suite(.serialized) struct LockTests {
  private let world: ServiceWorld
  private var service: SecretService { world.service }
  private var agent: AgentDouble { world.agent }
  private let path = ServiceWorld.defaultPath
  private let alias = ObjectPath("/org/freedesktop/secrets/aliases/default")

  init() throws { world = try ServiceWorld(groups: ["team"]) }

  private func isLocked(_ group: String = "default") throws -> Bool {
    try service.properties(of: .group(group)).isLocked
  }

  /// Makes the agent forget the passphrases, and waits until the service asks it again.
  private func lockAgent() {
    agent.isCached = false
    world.clock.advance(.seconds(1))
  }

  // MARK: State

  @Test func `a collection is locked while the agent does not have the passphrase`() throws {
    #expect(try !isLocked())
    lockAgent()
    #expect(try isLocked())
    #expect(try isLocked("team"))
    agent.isCached = true
    world.clock.advance(.seconds(1))
    #expect(try !isLocked())
  }

  @Test func `an answer of the agent is used for half a second`() throws {
    _ = try isLocked()
    let queries = agent.queries
    world.clock.advance(.milliseconds(499))
    for _ in 0..<10 { _ = try world.search([:]) }
    #expect(agent.queries == queries)
    world.clock.advance(.milliseconds(1))
    _ = try isLocked()
    #expect(agent.queries == queries + 1)
  }

  @Test func `the answer to the question of the start is used for half a second, too`() throws {
    let service = try world.restarted()
    while agent.queries == 0 { sched_yield() }
    lockAgent()
    #expect(try service.properties(of: .group("default")).isLocked)
  }

  @Test func `an agent that cannot be reached counts as locked`() throws {
    agent.failure = .agentUnreachable(detail: "test")
    world.clock.advance(.seconds(1))
    #expect(try isLocked())
  }

  @Test func `searches sort by the state, and attributes stay readable`() throws {
    let item = try world.add(["a": "1"])
    #expect(try service.searchItems(["a": "1"]) == FoundItems(unlocked: [item], locked: []))
    lockAgent()
    #expect(try service.searchItems(["a": "1"]) == FoundItems(unlocked: [], locked: [item]))
    let properties = try service.properties(of: world.item(item))
    #expect(properties.isLocked)
    #expect(properties.attributes == ["a": "1"])
    #expect(properties.label == "Label")
  }

  @Test func `nothing is read or changed in a locked collection`() throws {
    let item = try world.item(try world.add(["a": "1"]))
    lockAgent()
    expect(.isLocked) { try service.secret(of: item, session: world.session, for: world.sender) }
    expect(.isLocked) { try service.setSecret(world.secret("x"), of: item, for: world.sender) }
    expect(.isLocked) { try service.setLabel("x", of: item, for: world.sender) }
    expect(.isLocked) { try service.setAttributes([:], of: item, for: world.sender) }
    expect(.isLocked) { try service.delete(item, for: world.sender) }
    expect(.isLocked) { try service.setLabel("x", of: .group("default")) }
    expect(.isLocked) { try service.delete(.group("team"), for: world.sender) }
    expect(.isLocked) { try world.add(["a": "1"], replace: true) }
    #expect(
      try world.value(
        service.secrets(of: [ObjectPath(item)], session: world.session, for: world.sender)
      ).isEmpty)
  }

  @Test func `a service that asks late is locked by Lock only`() throws {
    let world = try ServiceWorld(asksLate: true)
    world.agent.isCached = false
    #expect(try !world.service.properties(of: .group("default")).isLocked)
    #expect(world.agent.queries == 0)
    _ = try world.value(world.service.lock([path], for: world.sender))
    #expect(try world.service.properties(of: .group("default")).isLocked)
    let result = try world.service.unlock([path], for: world.sender)
    #expect(result == LockResult(paths: [path], prompt: .none))
    #expect(try !world.service.properties(of: .group("default")).isLocked)
  }

  // MARK: Lock and Unlock

  @Test func `Lock makes the agent forget everything`() throws {
    let item = try world.add(["a": "1"])
    _ = service.takeEvents()
    let result = try world.value(service.lock([item, alias, .none, world.session], for: world.sender))
    #expect(result == LockResult(paths: [item, alias], prompt: .none))
    #expect(agent.forgotten == 1)
    #expect(try isLocked())
    #expect(try isLocked("team"), "the agent has forgotten the passphrase of all groups")
    let events = service.takeEvents()
    for name in ["default", "team"] {
      let path = ObjectPath(.group(name))
      #expect(events.contains(.collectionProperties(path, [.locked(true)])))
      #expect(events.contains(.collectionChanged(path)))
    }
    #expect(events.contains(.itemProperties(item, [.locked(true)])))
    // The flag stays even if another program has unlocked the key.
    agent.isCached = true
    world.clock.advance(.seconds(1))
    #expect(try isLocked())
    #expect(try !isLocked("team"))
  }

  @Test func `Lock succeeds without an agent`() throws {
    agent.failure = .agentUnreachable(detail: "test")
    #expect(try world.value(service.lock([path], for: world.sender)).paths == [path])
    #expect(world.reports.count == 1)
    agent.failure = nil
    #expect(try isLocked())
  }

  @Test func `Unlock needs no prompt if the agent has the passphrase`() throws {
    _ = try world.value(service.lock([path], for: world.sender))
    agent.isCached = true
    world.clock.advance(.seconds(1))
    let item = try world.add(["a": "1"], in: .session)
    let result = try service.unlock([alias, item, path, .service, ObjectPath("/x")], for: world.sender)
    #expect(result == LockResult(paths: [alias, item, path], prompt: .none))
    #expect(try !isLocked())
    #expect(service.takeEvents().contains(.collectionProperties(path, [.locked(false)])))
  }

  @Test func `Unlock returns a prompt for what needs the passphrase`() throws {
    let stored = try world.add(["a": "1"])
    let memory = try world.add(["a": "1"], in: .session)
    _ = try world.value(service.lock([path], for: world.sender))
    let result = try service.unlock([alias, memory, stored], for: world.sender)
    #expect(result.paths == [memory])
    #expect(result.prompt != .none)
    #expect(try isLocked())
    _ = service.takeEvents()
    let work = try #require(try service.prompt(world.prompt(result.prompt), for: world.sender))
    #expect(service.takeEvents().isEmpty)
    try service.finish(work.run())
    #expect(try !isLocked())
    let early = service.takeEvents()
    #expect(early.contains(.collectionProperties(path, [.locked(false)])))
    #expect(!early.contains { if case .promptCompleted = $0 { true } else { false } })
    #expect(service.nextEventTime == world.clock.now + .milliseconds(100))
    world.clock.advance(.milliseconds(99))
    #expect(service.takeEvents().isEmpty)
    world.clock.advance(.milliseconds(1))
    #expect(
      service.takeEvents()
        == [
          .promptCompleted(
            result.prompt, to: world.sender, isDismissed: false, .paths([alias, stored]))
        ])
    #expect(service.nextEventTime == nil)
    expect(.noSuchObject) { try service.object(at: result.prompt, for: world.sender) }
    #expect(try world.text(of: stored) == "secret")
  }

  @Test func `a cancelled prompt is dismissed with an empty result`() throws {
    lockAgent()
    for (error, reports) in [
      (EngineError.cancelled, 0), (.badPassphrase, 0), (.agentUnreachable(detail: "test"), 1),
    ] {
      let before = world.reports.count
      let result = try service.unlock([path], for: world.sender)
      agent.failure = error
      #expect(
        try world.run(result.prompt)
          == .promptCompleted(result.prompt, to: world.sender, isDismissed: true, .paths([])))
      #expect(world.reports.count == before + reports)
      agent.failure = nil
      #expect(try isLocked())
    }
  }

  @Test func `too many paths are refused`() throws {
    let paths = Array(repeating: path, count: 4097)
    expect(.limitsExceeded) { try service.unlock(paths, for: world.sender) }
    expect(.limitsExceeded) { try service.lock(paths, for: world.sender) }
    #expect(try service.unlock(Array(paths.dropLast()), for: world.sender).paths.count == 4096)
  }

  @Test func `the store is searched for few unknown paths of a call`() throws {
    _ = try service.items(of: .group("default"))
    var paths: [ObjectPath] = []
    for number in 0..<66 {
      let added = try ItemChanges(world.other).create(
        ItemContent(
          label: "", attributes: ["n": "\(number)"], secret: SecretSlice(SecretBytes(text: "s")),
          contentType: "text/plain", isLocal: false), in: "default", replace: false)
      guard case .stored(let record) = added else { continue }
      paths.append(ObjectPath(ItemAddress(.group("default"), record.id)))
    }
    #expect(try service.unlock(paths, for: world.sender).paths == Array(paths.prefix(64)))
    service.storeChanged()
    #expect(try service.unlock(paths, for: world.sender).paths == paths)
  }

  // MARK: Prompts

  @Test func `a prompt belongs to its sender`() throws {
    lockAgent()
    let prompt = try service.unlock([path], for: world.sender).prompt
    let id = try world.prompt(prompt)
    expect(.noSuchObject) { try service.object(at: prompt, for: world.stranger) }
    expect(.noSuchObject) { try service.prompt(id, for: world.stranger) }
    expect(.noSuchObject) { try service.dismiss(id, for: world.stranger) }
    _ = try service.prompt(id, for: world.sender)
    expect(.alreadyExists) { try service.prompt(id, for: world.sender) }
  }

  @Test func `prompts at the same time share one dialog`() throws {
    lockAgent()
    let first = try service.unlock([path], for: world.sender).prompt
    let team = ObjectPath(.group("team"))
    let second = try service.unlock([team], for: world.stranger).prompt
    let work = try #require(try service.prompt(world.prompt(first), for: world.sender))
    guard case .prompt(let id) = try service.object(at: second, for: world.stranger) else { return }
    let shared = try service.prompt(id, for: world.stranger)
    #expect(shared.map(\.kind) == nil)
    try service.finish(work.run())
    world.clock.advance(.milliseconds(100))
    let events = service.takeEvents()
    #expect(
      events.contains(.promptCompleted(first, to: world.sender, isDismissed: false, .paths([path]))))
    #expect(
      events.contains(.promptCompleted(second, to: world.stranger, isDismissed: false, .paths([team]))))
    #expect(agent.roundTrips == 1)
  }

  @Test func `Dismiss ends the dialog unless another prompt needs it`() throws {
    lockAgent()
    let first = try service.unlock([path], for: world.sender).prompt
    let second = try service.unlock([path], for: world.sender).prompt
    let work = try #require(try service.prompt(world.prompt(first), for: world.sender))
    let shared = try service.prompt(world.prompt(second), for: world.sender)
    #expect(shared.map(\.kind) == nil)
    let trip = try #require(service.roundTrip)
    try service.dismiss(world.prompt(first), for: world.sender)
    #expect(!trip.cancellation.isCancelled)
    world.clock.advance(.milliseconds(100))
    #expect(
      service.takeEvents()
        == [.promptCompleted(first, to: world.sender, isDismissed: true, .paths([]))])
    try service.dismiss(world.prompt(second), for: world.sender)
    #expect(trip.cancellation.isCancelled)
    // The work ends later, and changes nothing.
    try service.finish(work.run())
    world.clock.advance(.milliseconds(100))
    #expect(
      service.takeEvents()
        == [.promptCompleted(second, to: world.sender, isDismissed: true, .paths([]))])
    #expect(try isLocked())
    // The next prompt has a dialog of its own.
    let third = try service.unlock([path], for: world.sender).prompt
    #expect(
      try world.run(third) == .promptCompleted(third, to: world.sender, isDismissed: false, .paths([path])))
  }

  @Test func `a prompt that was not shown is dismissed at once`() throws {
    lockAgent()
    let prompt = try service.unlock([path], for: world.sender).prompt
    _ = service.takeEvents()
    try service.dismiss(world.prompt(prompt), for: world.sender)
    #expect(
      service.takeEvents()
        == [.promptCompleted(prompt, to: world.sender, isDismissed: true, .paths([]))])
  }

  @Test func `a prompt ends with its sender`() throws {
    lockAgent()
    let prompt = try service.unlock([path], for: world.sender).prompt
    let work = try #require(try service.prompt(world.prompt(prompt), for: world.sender))
    let trip = try #require(service.roundTrip)
    service.senderVanished(world.sender)
    #expect(trip.cancellation.isCancelled)
    try service.finish(work.run())
    world.clock.advance(.seconds(1))
    #expect(!service.takeEvents().contains { if case .promptCompleted = $0 { true } else { false } })
    // Also if it was completed but the signal still waits.
    let second = try service.unlock([path], for: world.sender).prompt
    let next = try #require(try service.prompt(world.prompt(second), for: world.sender))
    try service.finish(next.run())
    service.senderVanished(world.sender)
    world.clock.advance(.seconds(1))
    #expect(!service.takeEvents().contains { if case .promptCompleted = $0 { true } else { false } })
  }

  @Test func `a sender has at most 16 prompts`() throws {
    lockAgent()
    var prompts: [ObjectPath] = []
    for _ in 0..<16 { prompts.append(try service.unlock([path], for: world.sender).prompt) }
    expect(.limitsExceeded) { try service.unlock([path], for: world.sender) }
    _ = try service.unlock([path], for: world.stranger)
    try service.dismiss(world.prompt(prompts[0]), for: world.sender)
    _ = try service.unlock([path], for: world.sender)
  }

  @Test func `an object that is deleted while the prompt is shown is left out`() throws {
    let item = try world.add(["a": "1"])
    lockAgent()
    let prompt = try service.unlock([item, path], for: world.sender).prompt
    let work = try #require(try service.prompt(world.prompt(prompt), for: world.sender))
    try world.other.delete(world.records())
    service.storeChanged()
    try service.finish(work.run())
    world.clock.advance(.seconds(1))
    #expect(
      service.takeEvents().last
        == .promptCompleted(prompt, to: world.sender, isDismissed: false, .paths([path])))
  }

  // MARK: Work

  @Test func `the pending calls of a sender and of all senders are limited`() throws {
    let item = try world.item(try world.add(["a": "1"]))
    var waiting: [Work<WireSecret>] = []
    func start(_ sender: Sender, _ session: ObjectPath) throws {
      if case .later(let work) = try service.secret(of: item, session: session, for: sender) {
        waiting.append(work)
      }
    }
    for _ in 0..<32 { try start(world.sender, world.session) }
    expect(.limitsExceeded) { try start(world.sender, world.session) }
    for number in 0..<7 {
      let sender = Sender(":2.\(number)")
      let session = try service.openSession("plain", .text, for: sender).session
      for _ in 0..<32 { try start(sender, session) }
    }
    let last = Sender(":3.1")
    let session = try service.openSession("plain", .text, for: last).session
    expect(.limitsExceeded) { try start(last, session) }
    #expect(waiting.count == 256)
    // A sender that has left is counted until its work has ended.
    service.senderVanished(world.sender)
    expect(.limitsExceeded) { try start(last, session) }
    for work in waiting { _ = try service.finish(work.run()) }
    try start(last, session)
  }
}
