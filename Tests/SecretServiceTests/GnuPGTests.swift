import Foundation
import Keyring
import OpenPGP
import Secrets
import Synchronization
import TestSupport
import Testing

@testable import SecretService

/// Tests the rules of locking with real keys and a real agent.
@Suite(.serialized, .waits) struct GnuPGTests {
  private static let sender = Sender(":1.7")
  private static let path = ObjectPath(.group("default"))

  /// A service for a key with a passphrase, and the pinentry of its agent.
  private struct World {
    let pinentry: Pinentry
    let store: GnuPGStore
    let service: SecretService
    let clock: ManualClock
    let reports = Tally()

    init(_ pinentry: Pinentry, owner: GnuPGKey = .locked) throws {
      self.pinentry = pinentry
      // The store is created by a pinentry that knows the passphrase.
      let answering = try Pinentry.answering()
      let home = try GnuPGHome(
        secret: [owner], agentConfiguration: ["pinentry-program \(answering.program)"])
      store = GnuPGStore(home)
      _ = try store.create(owner: owner)
      try home.configureAgent(["pinentry-program \(pinentry.program)"])
      home.stopAgent()
      let clock = ManualClock()
      self.clock = clock
      service = try Self.service(store, clock, reports)
    }

    /// Starts another service on the same store, as after a restart.
    func restarted() throws -> SecretService { try Self.service(store, clock, reports) }

    private static func service(
      _ store: GnuPGStore, _ clock: ManualClock, _ reports: Tally
    ) throws -> SecretService {
      let (host, path) = (store.host, store.path)
      var options = ServiceOptions(stateBase: host.stateBase, clock: { clock.now }, date: { 0 })
      // Other tests may keep the processors busy.
      options.agentPatience = .seconds(60)
      options.report = { _ in reports.add() }
      return try SecretService(options: options) {
        var host = host
        host.keepsIndex = true
        return try Keyring.open(at: path, host: host)
      }
    }

    var isLocked: Bool {
      get throws {
        clock.advance(.seconds(1))
        return try service.properties(of: .group("default")).isLocked
      }
    }

    /// Starts a prompt for the collection.
    func startPrompt() throws -> (id: PromptID, work: Work<Void>) {
      let prompt = try service.unlock([path], for: sender).prompt
      guard case .prompt(let id) = try service.object(at: prompt, for: sender),
        let work = try service.prompt(id, for: sender)
      else { throw SecretServiceError(.failed, "no prompt") }
      return (id, work)
    }

    func completion() -> ServiceEvent? {
      clock.advance(.seconds(1))
      return service.takeEvents().last
    }

    func add() throws -> ItemAddress {
      let session = try service.openSession("plain", .text, for: sender).session
      let secret = WireSecret(
        session: session, parameters: [], value: SecretSlice(SecretBytes(text: "pass")), contentType: "")
      guard
        case .later(let work) = try service.createItem(
          NewItemProperties(), secret, replace: false, in: .group("default"), for: sender),
        case .item(let item) = try service.object(at: service.finish(work.run()), for: sender)
      else { throw SecretServiceError(.failed, "no item") }
      return item
    }
  }

  @Test func `a key without a passphrase is never locked`() throws {
    let world = try World(try Pinentry.cancelling(), owner: .alice)
    #expect(try !world.isLocked)
    _ = try world.add()
    #expect(world.pinentry.count == 0)
  }

  @Test func `a prompt unlocks, and Lock locks again`() throws {
    let world = try World(try Pinentry.answering())
    #expect(try world.isLocked)
    #expect(world.pinentry.count == 0, "asking for the state shows no dialog")
    let (id, work) = try world.startPrompt()
    try world.service.finish(work.run())
    #expect(world.pinentry.count == 1, "both subkeys have the same passphrase")
    #expect(
      world.completion()
        == .promptCompleted(ObjectPath(id), to: Self.sender, isDismissed: false, .paths([Self.path])))
    #expect(try !world.isLocked)
    let item = try world.add()
    #expect(world.pinentry.count == 1)
    guard case .later(let lock) = try world.service.lock([Self.path], for: Self.sender) else { return }
    _ = try world.service.finish(lock.run())
    #expect(try world.isLocked)
    #expect(throws: SecretServiceError.self) { try world.service.delete(item, for: Self.sender) }
    let (_, again) = try world.startPrompt()
    try world.service.finish(again.run())
    #expect(world.pinentry.count == 2)
    #expect(try !world.isLocked)
  }

  @Test func `Lock does not wait for a dialog that is shown`() throws {
    let world = try World(
      try Pinentry(answering: "D \(GnuPGKey.passphrase)\nOK", waitsToConfirm: true))
    let (_, unlocking) = try world.startPrompt()
    try world.service.finish(unlocking.run())
    #expect(try !world.isLocked)
    let question = try world.service.createCollection(label: "X", alias: "", for: Self.sender).prompt
    guard case .prompt(let id) = try world.service.object(at: question, for: Self.sender),
      let work = try world.service.prompt(id, for: Self.sender)
    else { return }
    let asking = try #require(Running(work))
    while world.pinentry.count < 2 { usleep(10_000) }
    guard case .later(let lock) = try world.service.lock([Self.path], for: Self.sender) else { return }
    // The dialog ends only after this. The agent would wait for it for a minute.
    let locking = try #require(Running(lock))
    _ = try world.service.finish(locking.wait(for: .seconds(30)))
    #expect(try world.isLocked)
    try world.service.dismiss(id, for: Self.sender)
    try world.service.finish(asking.wait())
    #expect(world.reports.count == 0)
  }

  @Test func `a passphrase that was entered for one key unlocks both if they have the same`() throws {
    let world = try World(try Pinentry.answering())
    // Another program has used one of the keys.
    _ = try Engine(world.store.gnupg, people: [.locked]).signed()
    #expect(world.pinentry.count == 1)
    let service = try world.restarted()
    #expect(try !service.properties(of: .group("default")).isLocked)
    #expect(world.pinentry.count == 1, "no dialog is shown to find out")
    #expect(
      try service.unlock([Self.path], for: Self.sender) == LockResult(paths: [Self.path], prompt: .none))
    world.store.gnupg.stopAgent()
    world.clock.advance(.seconds(1))
    #expect(try service.properties(of: .group("default")).isLocked)
    #expect(world.pinentry.count == 1)
  }

  @Test func `a cancelled dialog dismisses the prompt`() throws {
    let world = try World(try Pinentry.cancelling())
    let (id, work) = try world.startPrompt()
    try world.service.finish(work.run())
    #expect(
      world.completion() == .promptCompleted(ObjectPath(id), to: Self.sender, isDismissed: true, .paths([])))
    #expect(try world.isLocked)
    #expect(world.reports.count == 0)
  }

  @Test func `Dismiss ends the dialog`() throws {
    let world = try World(try Pinentry(answering: "", waits: true))
    let (id, work) = try world.startPrompt()
    let thread = try #require(Running(work))
    while world.pinentry.count == 0 { usleep(10_000) }
    try world.service.dismiss(id, for: Self.sender)
    try world.service.finish(thread.wait())
    #expect(
      world.completion() == .promptCompleted(ObjectPath(id), to: Self.sender, isDismissed: true, .paths([])))
    #expect(try world.isLocked)
    #expect(world.reports.count == 0)
    #expect(world.pinentry.count == 1)
  }

  @Test func `a search answers while a dialog is shown`() throws {
    let world = try World(try Pinentry(answering: "", waits: true))
    let (id, work) = try world.startPrompt()
    let thread = try #require(Running(work))
    while world.pinentry.count == 0 { usleep(10_000) }
    #expect(try world.service.searchItems([:]) == FoundItems(unlocked: [], locked: []))
    #expect(try world.isLocked)
    try world.service.dismiss(id, for: Self.sender)
    try world.service.finish(thread.wait())
  }

  @Test(arguments: [true, false])
  func `a question is asked by the agent`(agrees: Bool) throws {
    let pinentry = try Pinentry(
      answering: "D \(GnuPGKey.passphrase)\nOK",
      confirming: agrees ? "OK" : "ERR 83886179 Operation cancelled <Pinentry>")
    let world = try World(pinentry)
    let prompt = try world.service.createCollection(
      label: "Work & Play", alias: "", for: Self.sender
    ).prompt
    guard case .prompt(let id) = try world.service.object(at: prompt, for: Self.sender),
      let work = try world.service.prompt(id, for: Self.sender)
    else { return }
    try world.service.finish(work.run())
    let result = agrees ? ObjectPath(.group("Work-Play")) : .none
    #expect(
      world.completion() == .promptCompleted(prompt, to: Self.sender, isDismissed: !agrees, .path(result)))
    #expect(
      pinentry.descriptions.first?.removingPercentEncoding
        == "Create the group \"Work-Play\" in Keytree, with you as its only member?"
    )
    #expect(world.reports.count == 0)
  }

  @Test func `Dismiss ends a question`() throws {
    let world = try World(try Pinentry(answering: "", waits: true))
    let prompt = try world.service.createCollection(label: "X", alias: "", for: Self.sender).prompt
    guard case .prompt(let id) = try world.service.object(at: prompt, for: Self.sender),
      let work = try world.service.prompt(id, for: Self.sender)
    else { return }
    let thread = try #require(Running(work))
    while world.pinentry.count == 0 { usleep(10_000) }
    try world.service.dismiss(id, for: Self.sender)
    try world.service.finish(thread.wait())
    #expect(
      world.completion() == .promptCompleted(prompt, to: Self.sender, isDismissed: true, .path(.none)))
    #expect(try world.store.open().policy.groups["X"] == nil)
  }
}

extension Engine {
  fileprivate convenience init(_ home: GnuPGHome, people: [GnuPGKey]) {
    self.init(
      locations: home.locations, keyringID: "test", keys: GnuPGKey.files(people), interaction: .pinentry)
  }

  /// Signs as the owner of the store.
  fileprivate func signed() throws -> [UInt8] {
    try signDetached([1], signer: GnuPGKey.locked.fingerprint)
  }
}

/// Work on a thread of its own.
private final class Running<Value: Sendable>: Sendable {
  private let result = Mutex<Outcome<Value>?>(nil)
  private let done = Signal()

  init?(_ work: Work<Value>) {
    BackgroundThread.run { [self] in
      let outcome = work.run()
      result.withLock { $0 = outcome }
      done.set()
    }
  }

  /// Waits for the result.
  func wait(for time: Duration = .seconds(60)) throws -> Outcome<Value> {
    done.wait(for: time)
    guard let outcome = result.withLock({ $0 }) else { throw SecretServiceError(.failed, "no result") }
    return outcome
  }
}
