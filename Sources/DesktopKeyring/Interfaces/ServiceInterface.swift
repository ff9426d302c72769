internal import SecretService
internal import SessionBus

extension BusInterface {
  /// `org.freedesktop.Secret.Service`.
  static let service = BusInterface(
    name: InterfaceName.service,
    methods: [
      BusMethod(
        "OpenSession", [BusArgument("algorithm", "s"), BusArgument("input", "v")],
        [BusArgument("output", "v"), BusArgument("result", "o")]
      ) { call in
        let (output, session) = try call.service.openSession(
          WireValues.text(call.values[0]), WireValues.sessionInput(call.values[1]), for: call.sender)
        return .now([WireValues.value(output), WireValues.value(session)])
      },
      BusMethod(
        "CreateCollection", [BusArgument("properties", "a{sv}"), BusArgument("alias", "s")],
        [BusArgument("collection", "o"), BusArgument("prompt", "o")]
      ) { call in
        let label = try WireValues.dictionary(call.values[0])[PropertyKey.collectionLabel].map(
          WireValues.text)
        let (collection, prompt) = try call.service.createCollection(
          label: label, alias: WireValues.text(call.values[1]), for: call.sender)
        return .now([WireValues.value(collection), WireValues.value(prompt)])
      },
      BusMethod(
        "SearchItems", [BusArgument("attributes", "a{ss}")],
        [BusArgument("unlocked", "ao"), BusArgument("locked", "ao")]
      ) { call in
        let found = try call.service.searchItems(WireValues.attributes(call.values[0]))
        return .now([WireValues.value(found.unlocked), WireValues.value(found.locked)])
      },
      BusMethod(
        "Unlock", [BusArgument("objects", "ao")], [BusArgument("unlocked", "ao"), BusArgument("prompt", "o")]
      ) { call in
        let result = try call.service.unlock(WireValues.paths(call.values[0]), for: call.sender)
        return .now([WireValues.value(result.paths), WireValues.value(result.prompt)])
      },
      BusMethod(
        "Lock", [BusArgument("objects", "ao")], [BusArgument("locked", "ao"), BusArgument("prompt", "o")]
      ) { call in
        let answer = try call.service.lock(WireValues.paths(call.values[0]), for: call.sender)
        return MethodAnswer(answer) { [WireValues.value($0.paths), WireValues.value($0.prompt)] }
      },
      BusMethod(
        "GetSecrets", [BusArgument("items", "ao"), BusArgument("session", "o")],
        [BusArgument("secrets", "a{o(oayays)}")]
      ) { call in
        let answer = try call.service.secrets(
          of: WireValues.paths(call.values[0]), session: WireValues.path(call.values[1]), for: call.sender)
        return MethodAnswer(answer) { [WireValues.value($0)] }
      },
      BusMethod("ReadAlias", [BusArgument("name", "s")], [BusArgument("collection", "o")]) { call in
        .now([WireValues.value(try call.service.readAlias(WireValues.text(call.values[0])))])
      },
      BusMethod("SetAlias", [BusArgument("name", "s"), BusArgument("collection", "o")], []) { call in
        try call.service.setAlias(WireValues.text(call.values[0]), to: WireValues.path(call.values[1]))
        return .now([])
      },
    ],
    properties: [BusProperty("Collections", "ao")],
    signals: ["CollectionCreated", "CollectionDeleted", "CollectionChanged"].map {
      BusSignal($0, [BusArgument("collection", "o")])
    },
    read: { call, _ in [("Collections", WireValues.value(call.service.collections))] })
}

/// The names of the interfaces.
enum InterfaceName {
  static let service = "org.freedesktop.Secret.Service"
  static let collection = "org.freedesktop.Secret.Collection"
  static let item = "org.freedesktop.Secret.Item"
  static let session = "org.freedesktop.Secret.Session"
  static let prompt = "org.freedesktop.Secret.Prompt"
  static let properties = "org.freedesktop.DBus.Properties"
  static let introspectable = "org.freedesktop.DBus.Introspectable"
  static let peer = "org.freedesktop.DBus.Peer"
}

/// The keys in the dictionaries with the properties of new objects.
enum PropertyKey {
  static let collectionLabel = InterfaceName.collection + ".Label"
  static let itemLabel = InterfaceName.item + ".Label"
  static let itemAttributes = InterfaceName.item + ".Attributes"
  /// The schema of an item, as old clients of gnome-keyring send it.
  static let itemType = InterfaceName.item + ".Type"
}
