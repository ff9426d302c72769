import Foundation
import Glibc
import SecretService
import SessionBus
import TestSupport
import Testing

@testable import DesktopKeyring

/// Programs that send wrong, huge or very many calls.
@Suite(.enabled(if: TestBus.program != nil, Comment(rawValue: TestBus.reason)), .serialized, .slow)
struct HostileCallTests {
  /// The names of all errors that the service may report.
  static let names: Set<String> = Set(
    ["IsLocked", "NoSession", "NoSuchObject", "AlreadyExists"].map { "org.freedesktop.Secret.Error." + $0 }
      + [
        "InvalidArgs", "NotSupported", "UnknownMethod", "UnknownInterface", "UnknownProperty",
        "PropertyReadOnly",
        "LimitsExceeded",
      ].map { "org.freedesktop.DBus.Error." + $0 })

  /// A value of every type that occurs, and of some that do not.
  static let values: [BusValue] = [
    .byte(1), .boolean(true), .int16(-1), .uint16(1), .int32(-1), .uint32(1), .int64(-1), .uint64(.max),
    .double(1),
    .string("x"), .objectPath("/x"), .signature("a{sv}"), BusUser.bytes([1]), .objectPaths([]),
    .array(element: "s", [.string("x")]), .strings([("a", "b")]), .dictionary([("a", .uint32(1))]),
    .structure([.string("x")]), .variant(.variant(.uint32(1))), .array(element: "ay", []),
    BusUser.secret("x", "/x"), .structure([.objectPath("/x"), BusUser.bytes([]), BusUser.bytes([])]),
    .array(element: "{so}", []), .array(element: "a{sv}", [.dictionary([])]),
  ]

  /// The objects with all their methods, from the tables that also make the introspection.
  static func objects(_ user: BusUser) throws -> [(path: String, methods: [(interface: String, BusMethod)])] {
    let session = try user.session()
    let item = try user.store([("a", "b")], "x", session: session)
    let standard: [BusInterface] = [.properties, .introspectable]
    let objects: [(String, BusInterface)] = [
      (BusUser.root, .service), (BusUser.defaultPath, .collection),
      (BusUser.root + "/aliases/default", .collection),
      (session, .session), (item, .item),
    ]
    return objects.map { path, own in
      (path, ([own] + standard).flatMap { interface in interface.methods.map { (interface.name, $0) } })
    }
  }

  @Test("a wrong type in any argument of any method is refused")
  func wrongTypes() throws {
    try KeyringOnBus.run { keyring in
      let user = try keyring.client()
      var count = 0
      for (path, methods) in try Self.objects(user) {
        for (interface, method) in methods {
          for (place, argument) in method.inputs.enumerated() {
            for value in Self.values where value.typeSignature != argument.signature {
              var arguments = method.inputs.map { Self.valid($0.signature) }
              arguments[place] = value
              let error = try user.errorName(method.name, of: interface, at: path, arguments)
              #expect(
                error == "org.freedesktop.DBus.Error.InvalidArgs", "\(method.name) \(argument.name) \(value)")
              count += 1
            }
          }
          // One argument less, and one more.
          let arguments = method.inputs.map { Self.valid($0.signature) }
          for wrong in [Array(arguments.dropLast()), arguments + [.string("x")]] where wrong != arguments {
            let error = try user.errorName(method.name, of: interface, at: path, wrong)
            #expect(error == "org.freedesktop.DBus.Error.InvalidArgs", "\(method.name)")
          }
        }
      }
      #expect(count > 500)
      #expect(keyring.errors == [])
    }
  }

  @Test("any value in a variant, and in the properties of a new object, gets a proper reply")
  func variants() throws {
    try KeyringOnBus.run { keyring in
      let user = try keyring.client()
      let session = try user.session()
      let item = try user.store([("a", "b")], "x", session: session)
      func check(_ member: String, _ interface: String, _ path: String, _ arguments: [BusValue]) throws {
        let error = try user.errorName(member, of: interface, at: path, arguments)
        #expect(error.map(Self.names.contains) ?? true, "\(member) \(error ?? "")")
      }
      for value in Self.values {
        for algorithm in ["plain", "dh-ietf1024-sha256-aes128-cbc-pkcs7"] {
          try check(
            "OpenSession", InterfaceName.service, BusUser.root, [.string(algorithm), .variant(value)])
        }
        for key in [PropertyKey.itemLabel, PropertyKey.itemAttributes, PropertyKey.itemType, "x"] {
          try check(
            "CreateItem", InterfaceName.collection, BusUser.defaultPath,
            [.dictionary([(key, value)]), BusUser.secret("x", session), .boolean(false)])
        }
        try check(
          "CreateCollection", InterfaceName.service, BusUser.root,
          [.dictionary([(PropertyKey.collectionLabel, value)]), .string("")])
        for property in ["Label", "Attributes", "Locked", "x"] {
          try check(
            "Set", InterfaceName.properties, item,
            [.string(InterfaceName.item), .string(property), .variant(value)])
        }
      }
      _ = try user.secret(of: item, session: session)
    }
  }

  @Test("huge arrays, texts and secrets are refused, and the next call is served")
  func huge() throws {
    try KeyringOnBus.run { keyring in
      let user = try keyring.client()
      let session = try user.session()
      let item = try user.store([("a", "b")], "x", session: session)
      let (limit, invalid) = (
        "org.freedesktop.DBus.Error.LimitsExceeded", "org.freedesktop.DBus.Error.InvalidArgs"
      )
      let paths = BusValue.objectPaths((0..<100_000).map { "\(item)\($0)" })
      let pairs = BusValue.strings((0..<100_000).map { ("name\($0)", "value") })
      let long = String(repeating: "x", count: 5 << 20)
      func expect(
        _ name: String, _ member: String, _ interface: String, _ path: String, _ values: [BusValue],
        sourceLocation: SourceLocation = #_sourceLocation
      ) throws {
        let error = try user.errorName(member, of: interface, at: path, values)
        #expect(error == name, sourceLocation: sourceLocation)
      }
      try expect(limit, "Unlock", InterfaceName.service, BusUser.root, [paths])
      try expect(limit, "Lock", InterfaceName.service, BusUser.root, [paths])
      try expect(limit, "GetSecrets", InterfaceName.service, BusUser.root, [paths, .objectPath(session)])
      let few = BusValue.objectPaths((0...ServiceLimits.pathsPerUnlock).map { "/\($0)" })
      try expect(limit, "Unlock", InterfaceName.service, BusUser.root, [few])
      try expect(limit, "SearchItems", InterfaceName.service, BusUser.root, [.strings([("a", long)])])
      // 100,000 pairs fit into a message.
      let short = BusValue.strings((0..<100_000).map { ("\($0)", "") })
      try expect(invalid, "SearchItems", InterfaceName.service, BusUser.root, [short])
      try expect(invalid, "SearchItems", InterfaceName.collection, BusUser.defaultPath, [pairs])
      try expect(limit, "ReadAlias", InterfaceName.service, BusUser.root, [.string(long)])
      try expect(
        invalid, "CreateItem", InterfaceName.collection, BusUser.defaultPath,
        [
          BusUser.properties("x", [("a", "b")]),
          BusUser.secret(String(repeating: "x", count: (1 << 20) + 1), session), .boolean(true),
        ])
      try expect(
        limit, "SetSecret", InterfaceName.item, item,
        [BusUser.secret(long, session)])
      #expect(try user.secret(of: item, session: session) == "x")
      let large = String(repeating: "x", count: 1 << 20)
      try user.call("SetSecret", of: InterfaceName.item, at: item, [BusUser.secret(large, session)])
      #expect(try user.secret(of: item, session: session) == large)
      #expect(keyring.errors == [])
    }
  }

  @Test("a call with very many attributes or values delays no other client")
  func manyValues() throws {
    try KeyringOnBus.run { keyring in
      let user = try keyring.client()
      let session = try user.session()
      let (limit, invalid) = (
        "org.freedesktop.DBus.Error.LimitsExceeded", "org.freedesktop.DBus.Error.InvalidArgs"
      )
      func create(_ attributes: BusValue) throws -> String? {
        try user.errorName(
          "CreateItem", of: InterfaceName.collection, at: BusUser.defaultPath,
          [
            .dictionary([(PropertyKey.itemAttributes, attributes)]), BusUser.secret("x", session),
            .boolean(true),
          ])
      }
      // In descending order, in which sorting them one by one takes longest.
      for count in [95_000, ServiceLimits.elements, ServiceLimits.pairsPerSearch + 1] {
        let pairs = BusValue.strings((0..<count).reversed().map { ("\($0 + 100_000)", "") })
        let created = try create(pairs)
        let found = try user.errorName("SearchItems", of: InterfaceName.service, [pairs])
        #expect(created == invalid)
        #expect(found == invalid)
      }
      // Arrays in arrays, each of which is allowed.
      let row = BusValue.array(element: "s", (0..<1000).map { _ in .string("") })
      let nested = BusValue.variant(.array(element: "as", (0..<100).map { _ in row }))
      let opened = try user.errorName("OpenSession", of: InterfaceName.service, [.string("plain"), nested])
      #expect(opened == limit)
    }
  }

  @Test("signals of the bus that another program sends are ignored")
  func forgedSignals() throws {
    try KeyringOnBus.run { keyring in
      let (user, stranger) = try (keyring.client(), keyring.client())
      let session = try user.session()
      let item = try user.store([("a", "b")], "x", session: session)
      let owner = try #require(try stranger.connection.owner(of: KeyringOnBus.name))
      let name = user.connection.uniqueName
      for (member, values) in [
        ("NameLost", [BusValue.string(KeyringOnBus.name)]),
        ("NameOwnerChanged", [.string(name), .string(name), .string("")]),
      ] {
        for receiver in [owner, nil] {
          try stranger.connection.signal(
            member, of: "org.freedesktop.DBus", from: "/org/freedesktop/DBus", to: receiver, values)
        }
      }
      try stranger.connection.flush()
      // The reply to a later call of the same program comes after the signals were handled.
      _ = try stranger.session()
      #expect(keyring.end == nil)
      #expect(try user.secret(of: item, session: session) == "x")
    }
  }

  @Test("many clients that flood the service do not keep others from it")
  func flood() throws {
    try KeyringOnBus.run { keyring in
      let user = try keyring.client()
      let session = try user.session()
      let item = try user.store([("a", "b")], "x", session: session)
      try ThreadGroup.run(9) { thread in
        guard thread > 0 else {
          let client = try keyring.client()
          let own = try client.session()
          for _ in 0..<50 {
            let secret = try client.secret(of: item, session: own)
            #expect(secret == "x")
          }
          return
        }
        let client = try keyring.client()
        for number in 0..<500 {
          try client.call("SearchItems", of: InterfaceName.service, [.strings([("n", "\(number)")])])
          // Fails from the 65th on.
          _ = try client.errorName(
            "OpenSession", of: InterfaceName.service, [.string("plain"), .variant(.string(""))])
        }
      }
      #expect(keyring.errors == [])
    }
  }

  /// Returns a value with a signature.
  private static func valid(_ signature: String) -> BusValue {
    switch signature {
    case "s": .string("x")
    case "o": .objectPath("/x")
    case "b": .boolean(true)
    case "v": .variant(.string(""))
    case "ao": .objectPaths([])
    case "a{ss}": .strings([])
    case "a{sv}": .dictionary([])
    default: BusUser.secret("x", "/x")
    }
  }
}
