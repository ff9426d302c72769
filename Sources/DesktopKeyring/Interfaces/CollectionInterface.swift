internal import SecretService
internal import SessionBus

extension BusInterface {
  /// `org.freedesktop.Secret.Collection`.
  static let collection = BusInterface(
    name: InterfaceName.collection,
    methods: [
      BusMethod("Delete", [], [BusArgument("prompt", "o")]) { call in
        .now([WireValues.value(try call.service.delete(call.collection, for: call.sender))])
      },
      BusMethod("SearchItems", [BusArgument("attributes", "a{ss}")], [BusArgument("results", "ao")]) { call in
        let found = try call.service.searchItems(WireValues.attributes(call.values[0]), in: call.collection)
        return .now([WireValues.value(found)])
      },
      BusMethod(
        "CreateItem",
        [
          BusArgument("properties", "a{sv}"), BusArgument("secret", WireValues.secretSignature),
          BusArgument("replace", "b"),
        ], [BusArgument("item", "o"), BusArgument("prompt", "o")]
      ) { call in
        let given = try WireValues.dictionary(call.values[0])
        let properties = NewItemProperties(
          label: try given[PropertyKey.itemLabel].map(WireValues.text) ?? "",
          attributes: try given[PropertyKey.itemAttributes].map(WireValues.attributes) ?? ServiceAttributes(),
          type: try given[PropertyKey.itemType].map(WireValues.text))
        let answer = try call.service.createItem(
          properties, WireValues.secret(call.values[1]), replace: WireValues.flag(call.values[2]),
          in: call.collection, for: call.sender)
        return MethodAnswer(answer) { [WireValues.value($0), WireValues.value(.none)] }
      },
    ],
    properties: [
      BusProperty("Items", "ao"),
      BusProperty("Label", "s") { call, value in
        try call.service.setLabel(WireValues.text(value), of: call.collection)
        return .now([])
      },
      BusProperty("Locked", "b"), BusProperty("Created", "t"), BusProperty("Modified", "t"),
    ],
    signals: ["ItemCreated", "ItemDeleted", "ItemChanged"].map { BusSignal($0, [BusArgument("item", "o")]) },
    read: { call, name in
      let collection = try call.collection
      // The list of items may be long, so it is built only when it is wanted.
      let items =
        name == nil || name == "Items"
        ? [(name: "Items", value: WireValues.value(try call.service.items(of: collection)))] : []
      guard name != "Items" else { return items }
      let properties = try call.service.properties(of: collection)
      return items + [
        ("Label", .string(properties.label)), ("Locked", .boolean(properties.isLocked)),
        ("Created", .uint64(properties.created)), ("Modified", .uint64(properties.modified)),
      ]
    })
}

extension MethodCall {
  /// The collection that is called.
  ///
  /// - Throws: `unknownMethod` if the object is of another kind.
  fileprivate var collection: CollectionID {
    get throws {
      guard case .collection(let collection) = object else {
        throw ReplyError.unknownMethod("not a collection")
      }
      return collection
    }
  }
}
