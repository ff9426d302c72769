/// The signals that wait to be sent.
struct EventQueue {
  /// The shortest time between two signals with the items of a collection, which can be large.
  static let itemsInterval = Duration.milliseconds(250)
  /// The number of items from which on their list is sent after the reply to the call that has changed it. Making and
  /// sending a longer list would delay the reply, and `ItemCreated` and `ItemDeleted` have already told the clients.
  static let longList = 1000

  private var ready: [ServiceEvent] = []
  private var later: [(time: Duration, event: ServiceEvent)] = []
  /// The collections whose property `Items` has changed, and the earliest time to send it.
  private var changed: [CollectionID: Duration] = [:]
  private var lastItems: [CollectionID: Duration] = [:]

  /// Adds a signal.
  ///
  /// - Parameter time: The earliest time at which it may be sent; nil for now.
  mutating func add(_ event: ServiceEvent, notBefore time: Duration? = nil) {
    if let time { later.append((time, event)) } else { ready.append(event) }
  }

  /// Adds a signal with the items of a collection. Several of them may become one.
  ///
  /// - Parameters:
  ///   - count: The number of items.
  ///   - now: The time.
  mutating func itemsChanged(in collection: CollectionID, count: Int, at now: Duration) {
    if changed[collection] != nil { return }
    changed[collection] = count < Self.longList ? .zero : now + Self.itemsInterval
  }

  /// Removes the signals to a sender that has left the bus.
  mutating func removeAll(to sender: Sender) {
    later.removeAll { entry in
      guard case .promptCompleted(_, to: sender, isDismissed: _, _) = entry.event else { return false }
      return true
    }
  }

  /// Returns the signals that are due.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - items: Returns the items of a collection; nil if it no longer exists.
  mutating func take(at now: Duration, items: (CollectionID) -> [ObjectPath]?) -> [ServiceEvent] {
    var events = ready
    ready = []
    for collection in changed.keys where dueTime(of: collection) <= now {
      changed[collection] = nil
      guard let items = items(collection) else { continue }
      lastItems[collection] = now
      events.append(.collectionProperties(ObjectPath(collection), [.items(items)]))
    }
    // Signals for a certain time come last: a prompt is completed after its effects were reported.
    let due = later.enumerated().filter { $0.element.time <= now }.sorted { left, right in
      (left.element.time, left.offset) < (right.element.time, right.offset)
    }
    events += due.map(\.element.event)
    later.removeAll { $0.time <= now }
    return events
  }

  /// The time at which the next signal is due; nil if none waits. A time in the past means now.
  var nextTime: Duration? {
    if !ready.isEmpty { return .zero }
    let items = changed.keys.map(dueTime)
    return (later.map(\.time) + items).min()
  }

  private func dueTime(of collection: CollectionID) -> Duration {
    max(changed[collection] ?? .zero, lastItems[collection].map { $0 + Self.itemsInterval } ?? .zero)
  }
}
