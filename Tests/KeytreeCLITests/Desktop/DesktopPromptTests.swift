import Foundation
import Glibc
import SessionBus
import TestSupport
import Testing

/// The built service with a key that has a passphrase, and a scripted pinentry.
@Suite(.enabled(if: TestBus.program != nil, Comment(rawValue: TestBus.reason)), .serialized, .waits, .slow)
struct DesktopPromptTests {
  private static let unlocked: [BusValue] = [
    .boolean(false), .variant(.objectPaths([DesktopUser.collection])),
  ]
  private static let dismissed: [BusValue] = [.boolean(true), .variant(.objectPaths([]))]

  /// Creates a store, and starts the service with a pinentry.
  private func session(_ pinentry: TestSupport.Pinentry) throws -> DesktopSession {
    let session = try DesktopSession(.locked)
    let answering = try TestSupport.Pinentry.answering()
    try use(answering, in: session)
    try session.program.succeed(["init"])
    try use(pinentry, in: session)
    try session.start()
    return session
  }

  /// Replaces the pinentry of the agent, which forgets the passphrase.
  private func use(_ pinentry: TestSupport.Pinentry, in session: DesktopSession) throws {
    try session.program.gnupg.configureAgent(["pinentry-program \(pinentry.program)"])
    session.program.gnupg.stopAgent()
  }

  /// Waits until a pinentry was asked, at most 30 seconds.
  private func wait(for pinentry: TestSupport.Pinentry, count: Int = 1) {
    for _ in 0..<3000 where pinentry.count < count { usleep(10_000) }
    #expect(pinentry.count == count)
  }

  private func errorName(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch BusError.errorReply(let name, _) {
      return name
    } catch {
      return "\(error)"
    }
  }

  @Test("a cancelled prompt is dismissed, and the collection stays locked")
  func cancelled() throws {
    let pinentry = try TestSupport.Pinentry.cancelling()
    let session = try session(pinentry)
    let user = try DesktopUser(session)
    try user.openSession()
    #expect(try user.isLocked)
    #expect(pinentry.count == 0)
    let prompt = try user.startUnlocking()
    #expect(try user.values(of: "Completed", from: prompt) == Self.dismissed)
    #expect(pinentry.count == 1)
    #expect(try user.isLocked)
    #expect(
      errorName { try user.store([("a", "b")], "x") } == "org.freedesktop.Secret.Error.IsLocked")
    #expect(pinentry.count == 1)
    #expect(session.stop() == 0)
    #expect(session.log == "")
  }

  @Test("while a slow user types, others search, and share the dialog")
  func slowAndShared() throws {
    let pinentry = try TestSupport.Pinentry(answering: "D \(GnuPGKey.passphrase)\nOK", waits: true)
    let session = try session(pinentry)
    let (first, second) = (try DesktopUser(session), try DesktopUser(session))
    let prompts = (try first.startUnlocking(), try second.startUnlocking())
    wait(for: pinentry)
    let found = try second.search([("a", "b")])
    #expect(found == [.objectPaths([]), .objectPaths([])])
    try second.openSession()
    #expect(try first.isLocked)
    try pinentry.finish()
    #expect(try first.values(of: "Completed", from: prompts.0) == Self.unlocked)
    #expect(try second.values(of: "Completed", from: prompts.1) == Self.unlocked)
    let item = try second.store([("a", "b")], "open sesame")
    #expect(try second.secret(of: item) == "open sesame")
    #expect(pinentry.count == 1)
  }

  @Test("a client that leaves or dismisses ends its dialog")
  func dismissed() throws {
    let pinentry = try TestSupport.Pinentry(answering: "", waits: true)
    let session = try session(pinentry)
    let user = try DesktopUser(session)
    let prompt = try user.startUnlocking()
    wait(for: pinentry)
    try user.call("Dismiss", "Prompt", prompt)
    #expect(try user.values(of: "Completed", from: prompt) == Self.dismissed)
    let visitor = try DesktopUser(session)
    _ = try visitor.startUnlocking()
    wait(for: pinentry, count: 2)
    let name = visitor.connection.uniqueName
    visitor.connection.close()
    // Until the bus has noticed that, the next request would share the dialog.
    for _ in 0..<3000 where try user.connection.owner(of: name) != nil { usleep(10_000) }
    // The agent shows one dialog at a time, so the next one proves that this one has ended.
    _ = try user.startUnlocking()
    wait(for: pinentry, count: 3)
  }

  @Test("the dialog of a service that ends is closed", arguments: [SIGINT, SIGTERM])
  func serviceEnds(signal: Int32) throws {
    let pinentry = try TestSupport.Pinentry(answering: "", waits: true)
    let session = try session(pinentry)
    // A client that leaves would end the dialog itself.
    let first = try DesktopUser(session)
    _ = try first.startUnlocking()
    wait(for: pinentry)
    #expect(session.stop(with: signal) == 0)
    withExtendedLifetime(first) {}
    // The agent shows one dialog at a time, so the next one proves that this one has ended.
    try session.start()
    let user = try DesktopUser(session)
    _ = try user.startUnlocking()
    wait(for: pinentry, count: 2)
  }

  @Test("after the agent has forgotten the passphrase, the collection is locked until the next prompt")
  func forgotten() throws {
    let pinentry = try TestSupport.Pinentry.answering()
    let session = try session(pinentry)
    let user = try DesktopUser(session)
    try user.openSession()
    let prompt = try user.startUnlocking()
    #expect(try user.values(of: "Completed", from: prompt) == Self.unlocked)
    let item = try user.store([("a", "b")], "open sesame")
    // Another program empties the cache, or the passphrase has expired.
    session.program.gnupg.stopAgent()
    #expect(try user.wait(locked: true))
    #expect(try user.search([("a", "b")]) == [.objectPaths([]), .objectPaths([item])])
    #expect(errorName { _ = try user.secret(of: item) } == "org.freedesktop.Secret.Error.IsLocked")
    #expect(pinentry.count == 1)
    let again = try user.startUnlocking()
    #expect(try user.values(of: "Completed", from: again) == Self.unlocked)
    #expect(pinentry.count == 2)
    #expect(try user.secret(of: item) == "open sesame")
  }

  @Test("after kill -9 while a prompt is shown, the next service serves everything that was stored")
  func killedAtPrompt() throws {
    let answering = try TestSupport.Pinentry.answering()
    let session = try session(answering)
    let user = try DesktopUser(session)
    try user.openSession()
    _ = try user.values(of: "Completed", from: user.startUnlocking())
    let item = try user.store([("a", "b")], "open sesame")
    let waiting = try TestSupport.Pinentry(answering: "", waits: true)
    try use(waiting, in: session)
    #expect(try user.wait(locked: true))
    _ = try user.startUnlocking()
    wait(for: waiting)
    #expect(session.stop(with: SIGKILL) == -SIGKILL)
    try use(answering, in: session)
    try session.start()
    let next = try DesktopUser(session)
    try next.openSession()
    #expect(try next.search([("a", "b")]) == [.objectPaths([]), .objectPaths([item])])
    #expect(try next.values(of: "Completed", from: next.startUnlocking()) == Self.unlocked)
    #expect(try next.secret(of: item) == "open sesame")
    session.stop()
    try session.program.succeed(["check"])
  }

  @Test("after kill -9 during a store, all items whose calls were answered are served")
  func killedAtStore() throws {
    let session = try DesktopSession()
    var stored: [String: String] = [:]
    for round in 0..<4 {
      try session.start()
      let user = try DesktopUser(session)
      try user.openSession()
      let process = session.identifier
      let killer = Thread {
        usleep(UInt32(250_000 + round * 37_000))
        kill(process, SIGKILL)
      }
      killer.start()
      for number in 0..<1000 {
        // The call that is interrupted has no reply.
        guard let item = try? user.store([("n", "\(round).\(number)")], "secret \(number)") else { break }
        stored[item] = "secret \(number)"
      }
      #expect(session.waitForEnd() == -SIGKILL)
    }
    try session.start()
    let user = try DesktopUser(session)
    try user.openSession()
    for (item, secret) in stored { #expect(try user.secret(of: item) == secret) }
    #expect(stored.count > 0)
    session.stop()
    try session.program.succeed(["check"])
  }

  @Test("changes that sync receives reach a listening client")
  func synchronization() throws {
    let session = try DesktopSession()
    let program = session.program
    let (hub, other) = ("\(program.folder)/hub.git", "\(program.folder)/other")
    try program.git(["init", "-q", "--bare", "-b", "main", hub])
    try program.succeed(["git", "remote", "add", "origin", hub])
    try session.start()
    let user = try DesktopUser(session)
    try user.openSession()
    let item = try user.store([("a", "b")], "open sesame")
    #expect(try user.isTold("ItemCreated", item))
    try program.succeed(["sync"])
    try program.succeed(["clone", hub, other])
    let id = "#" + (item.split(separator: "/").last ?? "")
    try program.succeed(["--store", other, "set", id, "--label", "From elsewhere"])
    try program.succeed(["--store", other, "sync"])
    try program.succeed(["sync"])
    #expect(try user.isTold("ItemChanged", item))
    try program.succeed(["--store", other, "rm", id])
    try program.succeed(["--store", other, "sync"])
    try program.succeed(["sync"])
    #expect(try user.isTold("ItemDeleted", item))
  }
}
