internal import SecretService
internal import SessionBus

/// A signal on the bus.
struct EventSignal: Equatable {
  let path: ObjectPath
  let interface: String
  let member: String
  /// The only receiver; nil for everyone who has subscribed.
  let receiver: String?
  let values: [BusValue]

  /// Converts an event of the service.
  init(_ event: ServiceEvent) {
    switch event {
    case .collectionCreated(let path): self.init(.service, InterfaceName.service, "CollectionCreated", path)
    case .collectionDeleted(let path): self.init(.service, InterfaceName.service, "CollectionDeleted", path)
    case .collectionChanged(let path): self.init(.service, InterfaceName.service, "CollectionChanged", path)
    case .itemCreated(let path, let owner): self.init(owner, InterfaceName.collection, "ItemCreated", path)
    case .itemChanged(let path, let owner): self.init(owner, InterfaceName.collection, "ItemChanged", path)
    case .itemDeleted(let path, let owner): self.init(owner, InterfaceName.collection, "ItemDeleted", path)
    case .serviceProperties(let changed): self.init(.service, InterfaceName.service, changed: changed)
    case .collectionProperties(let path, let changed):
      self.init(path, InterfaceName.collection, changed: changed)
    case .itemProperties(let path, let changed): self.init(path, InterfaceName.item, changed: changed)
    case .promptCompleted(let path, let sender, let isDismissed, let result):
      self.init(
        path, InterfaceName.prompt, "Completed", to: sender.name,
        [.boolean(isDismissed), WireValues.value(result)])
    }
  }

  private init(
    _ path: ObjectPath, _ interface: String, _ member: String, to receiver: String? = nil,
    _ values: [BusValue]
  ) {
    (self.path, self.interface, self.member) = (path, interface, member)
    (self.receiver, self.values) = (receiver, values)
  }

  private init(_ path: ObjectPath, _ interface: String, _ member: String, _ object: ObjectPath) {
    self.init(path, interface, member, [WireValues.value(object)])
  }

  private init(_ path: ObjectPath, _ interface: String, changed: [ChangedProperty]) {
    // The values are always sent in full. libsecret has no value for a property that is only named as changed.
    self.init(
      path, InterfaceName.properties, "PropertiesChanged",
      [.string(interface), .dictionary(changed.map(WireValues.entry)), .array(element: "s", [])])
  }
}
