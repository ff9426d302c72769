import Foundation
import Glibc
import Secrets
import SessionBus
import TestSupport
import Testing

/// Programs of the desktop with the built command.
@Suite(.enabled(if: TestBus.program != nil, Comment(rawValue: TestBus.reason)), .serialized, .slow, .waits)
struct DesktopClientTests {
  private func secretTool(
    _ session: DesktopSession, _ arguments: [String], input: String = ""
  ) throws -> ProcessesProgram.Outcome {
    try session.run([try #require(DesktopClient.secretTool)] + arguments, input: input)
  }

  @Test(
    "secret-tool stores, looks up, searches and clears",
    .enabled(if: DesktopClient.secretTool != nil, Comment(rawValue: DesktopClient.secretToolReason)))
  func secretToolCommands() throws {
    let session = try DesktopSession()
    try session.start()
    let attributes = ["application", "demo", "user", "alice"]
    let stored = try secretTool(session, ["store", "--label=Demo"] + attributes, input: "open sesame")
    #expect(stored.status == 0, "\(stored.errors)")
    #expect(try secretTool(session, ["lookup"] + attributes).text == "open sesame")
    let found = try secretTool(session, ["search", "--all", "application", "demo"])
    #expect(found.text.contains("label = Demo\nsecret = open sesame\n"))
    // The same item again changes nothing, and another secret replaces it.
    for secret in ["open sesame", "changed"] {
      #expect(try secretTool(session, ["store", "--label=Demo"] + attributes, input: secret).status == 0)
    }
    #expect(try secretTool(session, ["lookup"] + attributes).text == "changed")
    #expect(try secretTool(session, ["clear"] + attributes).status == 0)
    let none = try secretTool(session, ["lookup"] + attributes)
    #expect(none.status == 1 && none.text.isEmpty)
    // One commit for the store, one for each of the three changes, and none for the same item. The last one is made
    // after the reply.
    func commits() throws -> String { try session.program.git(["rev-list", "--count", "HEAD"]) }
    for _ in 0..<3000 where try commits() != "4\n" { usleep(10_000) }
    #expect(session.stop() == 0)
    #expect(session.log == "")
    #expect(try commits() == "4\n")
  }

  @Test(
    "a protected key is unlocked by one prompt, and Lock makes the agent ask again",
    .enabled(if: DesktopClient.secretTool != nil, Comment(rawValue: DesktopClient.secretToolReason)))
  func protectedKey() throws {
    let session = try DesktopSession(.locked)
    let pinentry = try TestSupport.Pinentry.answering()
    try session.program.gnupg.configureAgent(["pinentry-program \(pinentry.program)"])
    session.program.gnupg.stopAgent()
    try session.program.succeed(["init"])
    session.program.gnupg.stopAgent()
    try session.start()
    let before = pinentry.count
    let stored = try secretTool(session, ["store", "--label=Demo", "a", "b"], input: "open sesame")
    #expect(stored.status == 0, "\(stored.errors)")
    #expect(try secretTool(session, ["lookup", "a", "b"]).text == "open sesame")
    #expect(pinentry.count == before + 1)
    let client = try session.connect()
    let path = BusValue.objectPath("/org/freedesktop/secrets/collection/default")
    _ = try client.call(
      "Lock", of: "org.freedesktop.Secret.Service", at: "/org/freedesktop/secrets", in: DesktopSession.name,
      [.array(element: "o", [path])])
    #expect(try secretTool(session, ["lookup", "a", "b"]).text == "open sesame")
    #expect(pinentry.count == before + 2)
  }

  @Test(
    "SecretStorage for Python works with items and collections",
    .enabled(if: DesktopClient.python != nil, Comment(rawValue: DesktopClient.pythonReason)))
  func secretStorage() throws {
    let session = try DesktopSession()
    try session.start()
    let script = """
      import secretstorage
      bus = secretstorage.dbus_init()
      default = secretstorage.get_default_collection(bus)
      assert not default.is_locked() and default.get_label() == "default"
      attributes = {"application": "test", "number": "1"}
      item = default.create_item("Hello", attributes, b"by\\0tes\\xff", replace=True)
      assert item.get_secret() == b"by\\0tes\\xff"
      assert item.get_attributes() == attributes and item.get_label() == "Hello"
      assert item.get_created() == item.get_modified()
      again = default.create_item("Hello again", attributes, b"other", replace=True)
      assert again.item_path == item.item_path
      item.set_secret(b"new", "application/octet-stream")
      assert item.get_secret_content_type() == "application/octet-stream"
      item.set_attributes({"application": "test", "number": "2"})
      assert [i.get_label() for i in secretstorage.search_items(bus, {"number": "2"})] == ["Hello again"]
      assert list(secretstorage.search_items(bus, {"number": "1"})) == []
      try:
        secretstorage.Item(bus, default.collection_path + "/0").get_label()
        assert False
      except secretstorage.ItemNotFoundException: pass
      default.lock()
      assert default.is_locked() and item.is_locked()
      try:
        item.get_secret()
        assert False
      except secretstorage.LockedException: pass
      assert not item.unlock() and item.get_secret() == b"new"
      item.delete()
      assert list(default.get_all_items()) == []
      temporary = secretstorage.Collection(bus, "/org/freedesktop/secrets/collection/session")
      assert temporary.create_item("In memory", {"a": "b"}, b"x").get_secret() == b"x"
      print("done")
      """
    let outcome = try session.run([try #require(DesktopClient.python), "-c", script])
    #expect(outcome.text == "done\n", "\(outcome.errors)")
    #expect(try session.program.succeed(["find"]) == "", "the item in memory is not in the store")
  }

  @Test(
    "after kill -9 nothing that was stored is lost, and the next service serves it",
    .enabled(if: DesktopClient.secretTool != nil, Comment(rawValue: DesktopClient.secretToolReason)))
  func kill() throws {
    let session = try DesktopSession()
    for round in 0..<4 {
      try session.start()
      for number in 0..<3 {
        let stored = try secretTool(
          session, ["store", "--label=Demo", "number", "\(round).\(number)"],
          input: "secret \(round).\(number)")
        #expect(stored.status == 0, "\(stored.errors)")
      }
      // Another store is on its way when the service is killed.
      let (program, variables) = (session.program, session.variables)
      let late = Thread {
        // It fails if the service ends before it has replied.
        _ = try? program.run(
          words: [DesktopClient.secretTool ?? "", "store", "--label=Late", "late", "\(round)"], input: "late",
          variables: variables)
      }
      late.start()
      usleep(UInt32(round) * 20_000)
      #expect(session.stop(with: SIGKILL) == -SIGKILL)
      while !late.isFinished { usleep(1000) }
    }
    try session.start()
    for round in 0..<4 {
      for number in 0..<3 {
        #expect(
          try secretTool(session, ["lookup", "number", "\(round).\(number)"]).text
            == "secret \(round).\(number)")
      }
    }
    session.stop()
    try session.program.succeed(["check"])
  }

  @Test("changes by another process of keytree reach a listening client")
  func otherProcess() throws {
    let session = try DesktopSession()
    try session.start()
    let client = try session.connect()
    var signals: [(member: String, values: [BusValue])] = []
    try client.handleSignals(
      matching: [
        "type='signal',path_namespace='/org/freedesktop/secrets',interface='org.freedesktop.Secret.Collection'"
      ]
    ) { signal in signals.append((signal.member, (try? signal.values(limit: 1 << 20)) ?? [])) }
    let root = "/org/freedesktop/secrets"
    func call(_ member: String, _ interface: String, _ path: String, _ values: [BusValue]) throws
      -> [BusValue]
    {
      try client.call(
        member, of: "org.freedesktop.Secret." + interface, at: path, in: DesktopSession.name, values)
    }
    let reply = try call("OpenSession", "Service", root, [.string("plain"), .variant(.string(""))])
    let bytes = BusValue.bytes(SecretSlice(SecretBytes(copying: [120])))
    let item = try call(
      "CreateItem", "Collection", root + "/aliases/default",
      [.dictionary([]), .structure([reply[1], bytes, bytes, .string("text/plain")]), .boolean(true)])[0]
    guard case .objectPath(let path) = item else { throw BusError.malformed }
    let id = "#" + (path.split(separator: "/").last ?? "")
    func wait(for member: String) throws -> Bool {
      for _ in 0..<1000 {
        while try client.process() {}
        if signals.contains(where: { $0.member == member && $0.values == [item] }) { return true }
        usleep(10_000)
      }
      return false
    }
    #expect(try wait(for: "ItemCreated"))
    try session.program.succeed(["set", id, "--label", "From the shell"])
    #expect(try wait(for: "ItemChanged"))
    try session.program.succeed(["rm", id])
    #expect(try wait(for: "ItemDeleted"))
    client.close()
  }
}
