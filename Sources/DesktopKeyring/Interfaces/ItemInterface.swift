internal import SecretService
internal import SessionBus

extension BusInterface {
  /// `org.freedesktop.Secret.Item`.
  static let item = BusInterface(
    name: InterfaceName.item,
    methods: [
      BusMethod("Delete", [], [BusArgument("prompt", "o")]) { call in
        MethodAnswer(try call.service.delete(call.item, for: call.sender)) { [WireValues.value($0)] }
      },
      BusMethod(
        "GetSecret", [BusArgument("session", "o")], [BusArgument("secret", WireValues.secretSignature)]
      ) { call in
        let answer = try call.service.secret(
          of: call.item, session: WireValues.path(call.values[0]), for: call.sender)
        return MethodAnswer(answer) { [WireValues.value($0)] }
      },
      BusMethod("SetSecret", [BusArgument("secret", WireValues.secretSignature)], []) { call in
        let answer = try call.service.setSecret(
          WireValues.secret(call.values[0]), of: call.item, for: call.sender)
        return MethodAnswer(answer) { [] }
      },
    ],
    properties: [
      BusProperty("Locked", "b"),
      BusProperty("Attributes", "a{ss}") { call, value in
        let answer = try call.service.setAttributes(
          WireValues.attributes(value), of: call.item, for: call.sender)
        return MethodAnswer(answer) { [] }
      },
      BusProperty("Label", "s") { call, value in
        MethodAnswer(try call.service.setLabel(WireValues.text(value), of: call.item, for: call.sender)) {
          []
        }
      },
      BusProperty("Created", "t"), BusProperty("Modified", "t"),
    ],
    read: { call, _ in
      let properties = try call.service.properties(of: call.item)
      return [
        ("Locked", .boolean(properties.isLocked)), ("Attributes", WireValues.value(properties.attributes)),
        ("Label", .string(properties.label)), ("Created", .uint64(properties.created)),
        ("Modified", .uint64(properties.modified)),
      ]
    })
}

extension MethodCall {
  /// The item that is called.
  ///
  /// - Throws: `unknownMethod` if the object is of another kind.
  fileprivate var item: ItemAddress {
    get throws {
      guard case .item(let item) = object else { throw ReplyError.unknownMethod("not an item") }
      return item
    }
  }
}
