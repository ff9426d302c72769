/// The signals that wait to be sent.
struct EventQueue {
  /// The shortest time between two signals with the items of a collection, which can be large.
  static let itemsInterval = Duration.milliseconds(250)

  private var ready: [ServiceEvent] = []
  private var later: [(time: Duration, event: ServiceEvent)] = []
  /// The collections whose property `Items` has changed.
  private var changed: Set<CollectionID> = []
  private var lastItems: [CollectionID: Duration] = [:]

  /// Adds a signal.
  ///
  /// - Parameter time: The earliest time at which it may be sent; nil for now.
  mutating func add(_ event: ServiceEvent, notBefore time: Duration? = nil) {
    if let time { later.append((time, event)) } else { ready.append(event) }
  }

  /// Adds a signal with the items of a collection. Several of them may become one.
  mutating func itemsChanged(in collection: CollectionID) { changed.insert(collection) }

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
    for collection in changed where isDue(collection, at: now) {
      changed.remove(collection)
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
    let items = changed.map { lastItems[$0].map { $0 + Self.itemsInterval } ?? .zero }
    return (later.map(\.time) + items).min()
  }

  private func isDue(_ collection: CollectionID, at now: Duration) -> Bool {
    lastItems[collection].map { $0 + Self.itemsInterval <= now } ?? true
  }
}
