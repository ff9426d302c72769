import Foundation
import Glibc
import Keyring
import KeyringModel
import SecretService
import SessionBus
import TestSupport
import Testing

@testable import DesktopKeyring

/// Calls of a program over a real `dbus-daemon`.
@Suite(.enabled(if: TestBus.program != nil, Comment(rawValue: TestBus.reason)), .serialized, .waits)
struct BusServerTests {
  static let root = BusUser.root
  static let secretError = "org.freedesktop.Secret.Error."
  static let busError = "org.freedesktop.DBus.Error."

  @Test("a secret is stored, found, read, changed and deleted")
  func lifeOfAnItem() throws {
    try KeyringOnBus.run { keyring in
      let user = try keyring.client()
      let session = try user.session()
      let item = try user.store([("app", "demo")], "open sesame", session: session)
      let found = try user.call("SearchItems", of: InterfaceName.service, [.strings([("app", "demo")])])
      #expect(found == [.objectPaths([item]), .objectPaths([])])
      let secret = try user.secret(of: item, session: session)
      #expect(secret == "open sesame")
      try user.call("SetSecret", of: InterfaceName.item, at: item, [BusUser.secret("changed", session)])
      let changed = try user.secret(of: item, session: session)
      #expect(changed == "changed")
      let secrets = try user.call(
        "GetSecrets", of: InterfaceName.service, [.objectPaths([item]), .objectPath(session)])
      #expect(
        secrets == [
          .array(
            element: "{o(oayays)}", [.entry(.objectPath(item), BusUser.secret("changed", session))])
        ])
      let prompt = try user.call("Delete", of: InterfaceName.item, at: item)
      #expect(prompt == [.objectPath("/")])
      #expect(
        try user.errorName("GetSecret", of: InterfaceName.item, at: item, [.objectPath(session)]) == Self
          .secretError + "NoSuchObject")
      #expect(keyring.errors == [])
    }
  }

  @Test("properties are read and written one by one and together")
  func properties() throws {
    try KeyringOnBus.run { keyring in
      let user = try keyring.client()
      let item = try user.store([("app", "demo")], "x", session: user.session(), label: "First")
      func get(_ interface: String, _ name: String, _ path: String) throws -> BusValue? {
        try user.call("Get", of: InterfaceName.properties, at: path, [.string(interface), .string(name)])
          .first
      }
      let collections = try get(InterfaceName.service, "Collections", Self.root)
      #expect(
        collections == .variant(.objectPaths([BusUser.defaultPath, Self.root + "/collection/session"])))
      let items = try get(InterfaceName.collection, "Items", BusUser.defaultPath)
      #expect(items == .variant(.objectPaths([item])))
      // An empty interface is allowed.
      let label = try get("", "Label", item)
      #expect(label == .variant(.string("First")))
      try user.call(
        "Set", of: InterfaceName.properties, at: item,
        [.string(InterfaceName.item), .string("Label"), .variant(.string("Second"))])
      try user.call(
        "Set", of: InterfaceName.properties, at: item,
        [.string(InterfaceName.item), .string("Attributes"), .variant(.strings([("app", "other")]))])
      let all = try user.call("GetAll", of: InterfaceName.properties, at: item, [.string(InterfaceName.item)])
      guard case .array("{sv}", let entries)? = all.first else { throw BusError.malformed }
      #expect(entries.count == 5)
      #expect(entries.contains(.entry(.string("Label"), .variant(.string("Second")))))
      #expect(entries.contains(.entry(.string("Attributes"), .variant(.strings([("app", "other")])))))
      #expect(entries.contains(.entry(.string("Locked"), .variant(.boolean(false)))))
      let none = try user.call(
        "GetAll", of: InterfaceName.properties, at: item, [.string(InterfaceName.peer)])
      #expect(none == [.dictionary([])])
    }
  }

  @Test("each wrong call has its error name")
  func errorNames() throws {
    try KeyringOnBus.run { keyring in
      let user = try keyring.client()
      let session = try user.session()
      let item = try user.store([("a", "b")], "x", session: session)
      let stranger = try keyring.client()
      let other = try stranger.session()
      func expect(
        _ name: String, _ member: String, _ interface: String, _ path: String, _ values: [BusValue] = [],
        sourceLocation: SourceLocation = #_sourceLocation
      ) throws {
        let error = try user.errorName(member, of: interface, at: path, values)
        #expect(error == name, sourceLocation: sourceLocation)
      }
      let properties = InterfaceName.properties
      try expect(Self.busError + "UnknownMethod", "Explode", InterfaceName.item, item)
      try expect(Self.busError + "UnknownInterface", "GetSecret", InterfaceName.service, item)
      try expect(Self.busError + "InvalidArgs", "GetSecret", InterfaceName.item, item, [.string(session)])
      try expect(Self.busError + "InvalidArgs", "GetSecret", InterfaceName.item, item)
      try expect(Self.secretError + "NoSession", "GetSecret", InterfaceName.item, item, [.objectPath(other)])
      try expect(Self.secretError + "NoSession", "GetSecret", InterfaceName.item, item, [.objectPath("/")])
      try expect(
        Self.secretError + "NoSession", "CreateItem", InterfaceName.collection, BusUser.defaultPath,
        [BusUser.properties("x", []), BusUser.secret("x", other), .boolean(true)])
      try expect(Self.secretError + "NoSession", "Close", InterfaceName.session, other)
      for path in ["/collection", "/collection/nobody", "/aliases/nobody", "/session/1", "/prompt/1", "/x"] {
        for (interface, member) in [
          (InterfaceName.introspectable, "Introspect"), (InterfaceName.collection, "Delete"), ("x.y", "Z"),
        ] { try expect(Self.secretError + "NoSuchObject", member, interface, Self.root + path) }
      }
      try expect(
        Self.busError + "UnknownProperty", "Get", properties, item,
        [.string(InterfaceName.item), .string("Secret")])
      try expect(
        Self.busError + "UnknownInterface", "Get", properties, item, [.string("a.b"), .string("Label")])
      try expect(Self.busError + "UnknownInterface", "GetAll", properties, item, [.string("a.b")])
      try expect(
        Self.busError + "PropertyReadOnly", "Set", properties, item,
        [.string(InterfaceName.item), .string("Locked"), .variant(.boolean(true))])
      try expect(
        Self.busError + "InvalidArgs", "Set", properties, item,
        [.string(InterfaceName.item), .string("Label"), .variant(.uint32(1))])
      try expect(
        Self.busError + "NotSupported", "OpenSession", InterfaceName.service, Self.root,
        [.string("rot13"), .variant(.string(""))])
      try expect(
        Self.busError + "NotSupported", "OpenSession", InterfaceName.service, Self.root,
        [.string(""), .variant(.string(""))])
      try expect(
        Self.secretError + "NoSuchObject", "SetAlias", InterfaceName.service, Self.root,
        [.string("x"), .objectPath(Self.root + "/collection/nobody")])
      try expect(
        Self.busError + "InvalidArgs", "CreateItem", InterfaceName.collection, BusUser.defaultPath,
        [
          .dictionary([(PropertyKey.itemLabel, .uint32(1))]), BusUser.secret("x", session), .boolean(true),
        ])
      // Errors of clients are not reported to the user.
      #expect(keyring.errors == [])
      stranger.connection.close()
    }
  }

  @Test("a path outside of the keyring has no object, and leads to the service")
  func otherPaths() throws {
    try KeyringOnBus.run { keyring in
      let user = try keyring.client()
      for path in ["/", "/org", "/org/freedesktop", "/org/freedesktop/secretsx", "/some/path"] {
        let arguments: [BusValue] = [.string(InterfaceName.collection), .string("Label")]
        let error = try user.errorName("Get", of: InterfaceName.properties, at: path, arguments)
        #expect(error == Self.secretError + "NoSuchObject", "\(path)")
      }
      // Programs that show all objects of a bus begin at the root.
      for (path, child) in [("/", "org"), ("/org", "freedesktop"), ("/org/freedesktop", "secrets")] {
        let reply = try user.call("Introspect", of: InterfaceName.introspectable, at: path)
        guard case .string(let text)? = reply.first else { throw BusError.malformed }
        #expect(text.contains("<node name=\"\(child)\"/>"))
      }
      #expect(
        try user.errorName("Introspect", of: InterfaceName.introspectable, at: "/some") == Self.secretError
          + "NoSuchObject")
    }
  }

  @Test("a call without an interface finds its method")
  func noInterface() throws {
    // sd-bus as a client always names one, so the table is asked directly.
    for object in [ServiceObject.service, .collection(.session)] {
      let names = ObjectInterfaces.all(object).flatMap { $0.methods.map(\.name) }
      #expect(Set(names).count == names.count)
    }
  }

  @Test("introspection describes every object, and lists the children of small collections")
  func introspection() throws {
    try KeyringOnBus.run { keyring in
      let user = try keyring.client()
      let session = try user.session()
      let item = try user.store([("a", "b")], "x", session: session)
      func text(_ path: String) throws -> String {
        let reply = try user.call("Introspect", of: InterfaceName.introspectable, at: path)
        guard case .string(let text)? = reply.first else { throw BusError.malformed }
        return text
      }
      let service = try text(Self.root)
      #expect(service.contains("<interface name=\"org.freedesktop.Secret.Service\">"))
      #expect(service.contains("<arg name=\"secrets\" type=\"a{o(oayays)}\" direction=\"out\"/>"))
      #expect(service.contains("<node name=\"collection/default\"/>"))
      let id = item.split(separator: "/").last ?? ""
      let collection = try text(BusUser.defaultPath)
      #expect(collection.contains("<node name=\"\(id)\"/>"))
      #expect(collection.contains("<property name=\"Label\" type=\"s\" access=\"readwrite\"/>"))
      #expect(try text(Self.root + "/aliases/default").contains("<node name=\"\(id)\"/>"))
      #expect(try text(item).contains("org.freedesktop.Secret.Item"))
      #expect(try text(session).contains("org.freedesktop.Secret.Session"))
    }
  }

  @Test("a listener is told about changes, and the signals come before the reply")
  func signals() throws {
    try KeyringOnBus.run { keyring in
      let user = try keyring.client()
      try user.listen()
      let session = try user.session()
      let item = try user.store([("a", "b")], "x", session: session)
      // All signals have arrived with the reply, so nothing is waited for.
      while try user.connection.process() {}
      #expect(user.signals.first?.member == "ItemCreated")
      #expect(user.signals.first?.path == BusUser.defaultPath)
      #expect(user.signals.first?.values == [.objectPath(item)])
      var entries: [BusValue] = []
      while !entries.contains(.entry(.string("Items"), .variant(.objectPaths([item])))) {
        let changed = try #require(try user.signal("PropertiesChanged"))
        guard changed.path == BusUser.defaultPath, case .array("{sv}", let more) = changed.values[1] else {
          continue
        }
        #expect(changed.values[2] == .array(element: "s", []))
        entries += more
      }
      try user.call("Delete", of: InterfaceName.item, at: item)
      #expect(try user.signal("ItemDeleted")?.values == [.objectPath(item)])
    }
  }

  @Test("changes by another process reach a listener")
  func otherProcess() throws {
    try KeyringOnBus.run { keyring in
      let (user, session) = try (keyring.client(), keyring.client().session())
      #expect(!session.isEmpty)
      try user.listen()
      let own = try user.session()
      let item = try user.store([("a", "b")], "x", session: own)
      _ = try user.signal("PropertiesChanged")
      let other = try keyring.store.open()
      let record = try #require(try other.find(Query()).items.first)
      _ = try other.update(record, AttributeChanges(set: [.label: .string("From elsewhere")]))
      #expect(try user.signal("ItemChanged")?.values == [.objectPath(item)])
      let label = try user.call(
        "Get", of: InterfaceName.properties, at: item, [.string(InterfaceName.item), .string("Label")])
      #expect(label == [.variant(.string("From elsewhere"))])
    }
  }

  @Test("a prompt is shown once, completes for its sender alone, and delays nobody else")
  func prompt() throws {
    try KeyringOnBus.run { keyring in
      let (user, other) = try (keyring.client(), keyring.client())
      try user.listen()
      try other.listen()
      try user.lockByAgent(keyring)
      let session = try other.session()
      #expect(
        try other.errorName(
          "CreateItem", of: InterfaceName.collection, at: BusUser.defaultPath,
          [BusUser.properties("x", []), BusUser.secret("x", session), .boolean(true)])
          == Self.secretError + "IsLocked")
      let reply = try user.call("Unlock", of: InterfaceName.service, [.objectPaths([BusUser.defaultPath])])
      guard case .objectPath(let prompt)? = reply.last, prompt != "/" else { throw BusError.malformed }
      #expect(reply.first == .objectPaths([]))
      #expect(
        try other.errorName("Prompt", of: InterfaceName.prompt, at: prompt, [.string("")])
          == Self.secretError + "NoSuchObject")
      try user.call("Prompt", of: InterfaceName.prompt, at: prompt, [.string("")])
      #expect(
        try user.errorName("Prompt", of: InterfaceName.prompt, at: prompt, [.string("")])
          == Self.secretError + "AlreadyExists")
      // The user has not answered, and another client is served.
      let found = try other.call("SearchItems", of: InterfaceName.service, [.strings([])])
      #expect(found.count == 2)
      keyring.agent.answer()
      let completed = try user.signal("Completed")
      #expect(completed?.path == prompt)
      #expect(completed?.values == [.boolean(false), .variant(.objectPaths([BusUser.defaultPath]))])
      try other.store([("a", "b")], "x", session: session)
      while try other.connection.process() {}
      #expect(!other.signals.contains { $0.member == "Completed" })
      #expect(other.signals.contains { $0.member == "CollectionChanged" })
      #expect(keyring.agent.roundTrips == 1)
      #expect(
        try user.errorName("Dismiss", of: InterfaceName.prompt, at: prompt) == Self.secretError
          + "NoSuchObject")
    }
  }

  @Test("a dismissed prompt completes with an empty result of the same type")
  func dismissal() throws {
    try KeyringOnBus.run { keyring in
      let user = try keyring.client()
      try user.listen()
      try user.lockByAgent(keyring)
      let reply = try user.call("Unlock", of: InterfaceName.service, [.objectPaths([BusUser.defaultPath])])
      guard case .objectPath(let prompt)? = reply.last else { throw BusError.malformed }
      try user.call("Dismiss", of: InterfaceName.prompt, at: prompt)
      let completed = try user.signal("Completed")
      #expect(completed?.values == [.boolean(true), .variant(.objectPaths([]))])
    }
  }

  @Test("sessions end with their client, which frees their places")
  func departure() throws {
    try KeyringOnBus.run { keyring in
      let user = try keyring.client()
      let first = try user.session()
      for _ in 1..<ServiceLimits.sessions { _ = try user.session() }
      let arguments: [BusValue] = [.string("plain"), .variant(.string(""))]
      #expect(
        try user.errorName("OpenSession", of: InterfaceName.service, arguments) == Self.busError
          + "LimitsExceeded")
      try user.call("Close", of: InterfaceName.session, at: first)
      _ = try user.session()
      user.connection.close()
      let next = try keyring.client()
      // The bus reports the departure before the calls of a client that comes later.
      for _ in 0..<ServiceLimits.sessions { _ = try next.session() }
    }
  }

  @Test("the server ends when it loses its name, the bus ends, or it is stopped")
  func ends() throws {
    let lost = try KeyringOnBus()
    let user = try lost.client()
    #expect(try user.connection.requestName(KeyringOnBus.name, replacing: false) == .taken)
    #expect(try user.connection.requestName(KeyringOnBus.name, replacing: true) == .owned)
    lost.waitForEnd()
    #expect(lost.end == .nameLost)
    lost.stop()
    let alone = try KeyringOnBus()
    alone.bus.close()
    alone.waitForEnd()
    #expect(alone.end == .disconnected)
    let stopped = try KeyringOnBus()
    stopped.stop()
    #expect(stopped.end == .stopped)
  }

  @Test("explanations name the program and the schema, and no other attribute")
  func explanations() throws {
    try KeyringOnBus.run { keyring in
      let user = try keyring.client()
      let attributes = [("xdg:schema", "org.example.Demo"), ("user", "alice")]
      try user.store(attributes, "x", session: user.session())
      try user.call("SearchItems", of: InterfaceName.service, [.strings(attributes)])
      let texts = keyring.explanations
      #expect(texts.count == 2)
      #expect(
        texts.allSatisfy { $0.hasSuffix("for org.example.Demo") && $0.contains("(process \(getpid()))") })
    }
  }

  @Test("each change is added to the history")
  func history() throws {
    try KeyringOnBus.run { keyring in
      let user = try keyring.client()
      let session = try user.session()
      let item = try user.store([("a", "b")], "x", session: session)
      try user.call("Delete", of: InterfaceName.item, at: item)
      keyring.stop()
      #expect(keyring.historyCount == 2)
    }
  }
}
