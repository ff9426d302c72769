internal import SecretService
internal import SessionBus

/// The interfaces of an object.
enum ObjectInterfaces {
  /// Returns the interfaces of an object, without those that every object has.
  static func own(_ object: ServiceObject) -> BusInterface {
    switch object {
    case .service: .service
    case .collection: .collection
    case .item: .item
    case .session: .session
    case .prompt: .prompt
    }
  }

  /// Returns all interfaces of an object.
  static func all(_ object: ServiceObject) -> [BusInterface] {
    [own(object), .properties, .introspectable, .peer]
  }
}

extension BusInterface {
  /// `org.freedesktop.DBus.Properties` (D-Bus specification, "Standard Interfaces").
  static let properties = BusInterface(
    name: InterfaceName.properties,
    methods: [
      BusMethod(
        "Get", [BusArgument("interface_name", "s"), BusArgument("property_name", "s")],
        [BusArgument("value", "v")]
      ) { call in
        let name = try WireValues.text(call.values[1])
        let (interface, property) = try find(name, in: WireValues.text(call.values[0]), call)
        guard let value = try interface.read(call, property.name).first(where: { $0.name == name })?.value
        else {
          throw ReplyError.unknownProperty("no property \(name)")
        }
        return .now([.variant(value)])
      },
      BusMethod("GetAll", [BusArgument("interface_name", "s")], [BusArgument("properties", "a{sv}")]) {
        call in
        let name = try WireValues.text(call.values[0])
        let own = ObjectInterfaces.own(call.object)
        // An empty name means all interfaces, and only one has properties.
        guard name.isEmpty || name == own.name else {
          guard ObjectInterfaces.all(call.object).contains(where: { $0.name == name }) else {
            throw ReplyError.unknownInterface("no interface \(name)")
          }
          return .now([.dictionary([])])
        }
        return .now([.dictionary(try own.read(call, nil).map { ($0.name, $0.value) })])
      },
      BusMethod(
        "Set",
        [BusArgument("interface_name", "s"), BusArgument("property_name", "s"), BusArgument("value", "v")], []
      ) { call in
        let name = try WireValues.text(call.values[1])
        let (_, property) = try find(name, in: WireValues.text(call.values[0]), call)
        guard let write = property.write else { throw ReplyError.readOnly("\(name) is read-only") }
        guard case .variant(let value) = call.values[2], value.typeSignature == property.signature else {
          throw ReplyError.invalidArguments("\(name) has the type \(property.signature)")
        }
        return try write(call, value)
      },
    ],
    signals: [
      BusSignal(
        "PropertiesChanged",
        [
          BusArgument("interface_name", "s"), BusArgument("changed_properties", "a{sv}"),
          BusArgument("invalidated_properties", "as"),
        ])
    ])

  /// `org.freedesktop.DBus.Introspectable`.
  static let introspectable = BusInterface(
    name: InterfaceName.introspectable,
    methods: [
      BusMethod("Introspect", [], [BusArgument("xml_data", "s")]) { call in
        .now([.string(try Introspection.text(of: call.object, in: call.service))])
      }
    ])

  /// `org.freedesktop.DBus.Peer`. sd-bus answers its calls before they arrive here.
  static let peer = BusInterface(
    name: InterfaceName.peer,
    methods: [
      BusMethod("Ping", [], []) { _ in .now([]) },
      BusMethod("GetMachineId", [], [BusArgument("machine_uuid", "s")]) { _ in .now([]) },
    ])

  /// Finds a property of the called object.
  ///
  /// - Throws: `unknownInterface`, `unknownProperty`.
  private static func find(
    _ name: String, in interfaceName: String, _ call: MethodCall
  ) throws -> (BusInterface, BusProperty) {
    let interfaces = ObjectInterfaces.all(call.object).filter {
      interfaceName.isEmpty || $0.name == interfaceName
    }
    guard !interfaces.isEmpty else { throw ReplyError.unknownInterface("no interface \(interfaceName)") }
    for interface in interfaces {
      if let property = interface.properties.first(where: { $0.name == name }) {
        return (interface, property)
      }
    }
    throw ReplyError.unknownProperty("no property \(name)")
  }
}
