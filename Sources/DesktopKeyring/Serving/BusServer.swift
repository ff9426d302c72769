internal import Clocks
internal import Encoding
internal import Glibc
internal import Secrets
package import SecretService
package import SessionBus

/// Serves the Secret Service API on a bus: receives calls, passes them to the rules, and sends replies and signals.
///
/// The thread that calls ``serve(watching:until:)`` owns the service and the connection. Work that decrypts, encrypts, signs or
/// waits for GnuPG runs on other threads, so no client waits for the passphrase of another one.
package final class BusServer {
  private let service: SecretService
  private let connection: BusConnection
  private let hooks: Hooks
  private let queue: WorkQueue
  private let watch = FolderWatch()
  private var timer = ChangeTimer(now: SystemClock.awake)
  private var clients: [String: BusClient] = [:]
  private var pending: [WorkQueue.Ticket: Pending] = [:]
  private var nextTicket = 0
  private var pendingBytes = 0
  private var end: End?
  private var isEnding = false

  /// The functions of the program that the server calls.
  package struct Hooks {
    /// Reports an error that a client caused or saw.
    package var report: (any Error) -> Void = { _ in }
    /// The errors that other threads have left to be reported.
    package var inbox = ErrorInbox()
    /// Reports the calls for `--explain`; nil if they are not reported.
    package var explain: ((String) -> Void)?
    /// Called on the thread for changes after work that may have changed the store, to add the change to the history.
    /// Its error is reported.
    package var afterWrite: @Sendable () throws -> Void = {}

    /// Creates hooks that do nothing.
    package init() {}
  }

  /// The reasons why a server ends.
  package enum End: Equatable, Sendable {
    /// A signal to this process.
    case stopped
    /// Another program has taken the name.
    case nameLost
    /// The bus has ended.
    case disconnected
  }

  /// A call whose work is running.
  private struct Pending {
    /// The call; nil if it was answered before the work.
    let call: BusMessage?
    let size: Int
    /// True if the work may change the store.
    let isChange: Bool
  }

  /// The memory for all calls that wait for work, in bytes. Each may be as large as a message.
  private static let pendingBytesLimit = 64 << 20
  /// The number of messages that are handled before other events get their turn.
  private static let messagesPerTurn = 64
  /// The time that a change of the store gets to finish when the server ends.
  private static let farewell = Duration.seconds(5)

  /// Creates a server. It answers nothing before ``serve(watching:until:)`` is called.
  ///
  /// - Parameters:
  ///   - service: The rules.
  ///   - connection: The connection to the bus.
  ///   - hooks: The functions of the program.
  /// - Throws: An error of the system if no descriptors are left.
  package init(_ service: SecretService, on connection: BusConnection, _ hooks: Hooks) throws {
    (self.service, self.connection, self.hooks) = (service, connection, hooks)
    queue = try WorkQueue()
  }

  /// Requests the name, and begins to receive calls.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - replacing: True to take the name from an owner that allows it.
  /// - Returns: False if the name is taken.
  /// - Throws: `BusError`.
  package func start(as name: String, replacing: Bool) throws -> Bool {
    try connection.handleCalls(below: "/") { [unowned self] in receive($0) }
    let rule = "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',member="
    try connection.handleSignals(
      matching: [rule + "'NameOwnerChanged',arg2=''", rule + "'NameLost',arg0='\(name)'"]
    ) { [unowned self] signal in
      // Other programs can send such signals directly to this connection, which the bus does not compare with the rules.
      guard signal.isFromBus, let values = try? signal.values(limit: 1 << 12),
        case .string(let subject)? = values.first
      else {
        return
      }
      if signal.member == "NameLost" {
        if subject == name { end = .nameLost }
      } else if subject.hasPrefix(":") {
        forget(subject)
      }
    }
    return try connection.requestName(name, replacing: replacing) == .owned
  }

  // MARK: - Loop

  /// Serves until something ends it.
  ///
  /// - Parameters:
  ///   - descriptor: A descriptor that becomes readable when this process has received a signal.
  ///   - isStopped: Called when it is readable. Returns true if the process was asked to end.
  /// - Returns: The reason.
  /// - Throws: `BusError` if the connection fails in an unexpected way.
  package func serve(watching descriptor: Int32, until isStopped: () -> Bool) throws -> End {
    watchFolders()
    // Programs can already use the name, and most of what they ask first needs no items.
    if let work = service.readingWork() { begin(BackgroundWork(work) { [] }, for: nil) }
    while true {
      let isConnected = try handleMessages()
      guard isConnected else { return finish(.disconnected) }
      if let end { return finish(end) }
      for (ticket, completion) in queue.takeFinished() { complete(ticket, completion) }
      queue.startThreads()
      for error in hooks.inbox.take() { hooks.report(error) }
      if watch.takeChanges() { timer.changed(at: SystemClock.awake) }
      if timer.take(at: SystemClock.awake) {
        service.storeChanged()
        watchFolders()
      }
      sendEvents()
      if try wait(for: descriptor), isStopped() { return finish(.stopped) }
    }
  }

  /// Handles the messages that have arrived, but not so many that other events have to wait.
  ///
  /// - Returns: False if the bus has ended.
  private func handleMessages() throws -> Bool {
    var count = 0
    do {
      while try count < Self.messagesPerTurn && end == nil && connection.process() { count += 1 }
    } catch {
      guard case BusError.system(_, let problem) = error, Self.disconnection.contains(problem) else {
        throw error
      }
      return false
    }
    return true
  }

  /// The errors of a connection that the bus has closed.
  private static let disconnection = [ECONNRESET, ENOTCONN, EPIPE, ESHUTDOWN]

  /// Waits until there is something to do.
  ///
  /// - Returns: True if the descriptor is readable.
  private func wait(for descriptor: Int32) throws -> Bool {
    let now = SystemClock.awake
    var times = [timer.due, service.nextEventTime].compactMap { $0 }
    if let deadline = connection.deadline { times.append(.microseconds(Int64(clamping: deadline))) }
    let timeout = times.min().map { max($0 - now, .zero).milliseconds } ?? -1
    let readable = Int16(POLLIN)
    let bus = try connection.pollRequest()
    var requests = [
      bus, pollfd(fd: queue.descriptor, events: readable, revents: 0),
      // poll(2) ignores negative descriptors.
      pollfd(fd: watch.descriptor, events: readable, revents: 0),
      pollfd(fd: descriptor, events: readable, revents: 0),
    ]
    // An interrupted call returns to the loop, which looks at everything.
    guard unsafe poll(&requests, nfds_t(requests.count), timeout) > 0 else { return false }
    return requests[3].revents != 0
  }

  private func watchFolders() {
    watch.watch(service.watchedFolders)
    timer.isPolling = watch.isIncomplete
  }

  /// Lets a change of the store finish. It would survive the end of the process, but its sender would not know.
  private func finish(_ reason: End) -> End {
    isEnding = true
    let limit = SystemClock.awake + Self.farewell
    while SystemClock.awake < limit {
      // Work that ends after this question is taken now or in the next turn.
      let wasBusy = queue.isBusy(.write)
      for (ticket, completion) in queue.takeFinished() { complete(ticket, completion) }
      // Completed work may have begun to write the history.
      guard wasBusy || queue.isBusy(.write) else { break }
      var request = pollfd(fd: queue.descriptor, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&request, 1, 100)
    }
    for error in hooks.inbox.take() { hooks.report(error) }
    connection.close()
    return reason
  }

  // MARK: - Calls

  private func receive(_ call: BusMessage) {
    do {
      // Also a call that is refused can contain a secret.
      if call.signature.contains(bytesOf: WireValues.secretSignature) { call.markSensitive() }
      try requireOwnUser(call.sender)
      let sender = Sender(call.sender)
      if let text = Introspection.textOfParent(of: call) { return reply(to: call, [.string(text)]) }
      let object = try service.object(at: ObjectPath(call.path), for: sender)
      let method = try find(call, of: object)
      if method.isSensitive { call.markSensitive() }
      let values = try call.values(
        limit: ServiceLimits.messageSize, elements: ServiceLimits.elements, values: ServiceLimits.values)
      explain(call, method, values)
      guard pendingBytes + call.size <= Self.pendingBytesLimit else {
        throw ReplyError.limitsExceeded("too many calls are waiting")
      }
      let answer = try method.body(
        MethodCall(service: service, sender: sender, object: object, values: values))
      switch answer {
      case .now(let values): reply(to: call, values)
      case .later(let work): begin(work, for: call)
      case .nowAndLater(let values, let work):
        reply(to: call, values)
        begin(work, for: nil)
      }
    } catch {
      reply(to: call, error)
    }
  }

  /// Returns the method that a call names.
  ///
  /// - Throws: `unknownInterface`, `unknownMethod`; `invalidArguments` for another signature.
  private func find(_ call: BusMessage, of object: ServiceObject) throws -> BusMethod {
    let interfaces = ObjectInterfaces.all(object).filter {
      call.interface == nil || $0.name == call.interface
    }
    guard !interfaces.isEmpty else {
      throw ReplyError.unknownInterface("no interface \(call.interface ?? "")")
    }
    for interface in interfaces {
      guard let method = interface.methods.first(where: { $0.name == call.member }) else { continue }
      guard method.inputSignature == call.signature else {
        throw ReplyError.invalidArguments(
          "\(method.name) takes \"\(method.inputSignature)\", not \"\(call.signature)\"")
      }
      return method
    }
    throw ReplyError.unknownMethod("no method \(call.member)")
  }

  /// Refuses other users, which the usual configuration of a session bus already does.
  private func requireOwnUser(_ sender: String) throws {
    if clients[sender] == nil { clients[sender] = try connection.client(sender) }
    guard let user = clients[sender]?.user, user == geteuid() else {
      throw ReplyError.accessDenied("this keyring belongs to another user")
    }
  }

  private func forget(_ sender: String) {
    clients[sender] = nil
    service.senderVanished(Sender(sender))
    sendEvents()
  }

  // MARK: - Work

  private func begin(_ work: BackgroundWork, for call: BusMessage?, isHistory: Bool = false) {
    nextTicket += 1
    let size = call?.size ?? 0
    pendingBytes += size
    pending[nextTicket] = Pending(call: call, size: size, isChange: work.lane != .read && !isHistory)
    queue.add(nextTicket, work)
  }

  private func complete(_ ticket: WorkQueue.Ticket, _ completion: BackgroundWork.Completion) {
    guard let done = pending.removeValue(forKey: ticket) else { return }
    pendingBytes -= done.size
    do {
      let values = try completion(service)
      if let call = done.call { reply(to: call, values) }
      if done.isChange { addToHistory() }
    } catch {
      if let call = done.call {
        reply(to: call, error)
      } else if !isEnding {
        // The signal that ends this process also ends git. The next command commits the change.
        report(error)
      }
    }
    sendEvents()
  }

  /// Adds a change to the history after its reply, before the next change.
  private func addToHistory() {
    let afterWrite = hooks.afterWrite
    let work = BackgroundWork(lane: .write) {
      let result = Result { try afterWrite() }
      return { _ in
        try result.get()
        return []
      }
    }
    begin(work, for: nil, isHistory: true)
  }

  // MARK: - Replies and signals

  private func reply(to call: BusMessage, _ values: [BusValue]) {
    sendEvents()
    let isSensitive = values.contains { $0.typeSignature.contains(bytesOf: WireValues.secretSignature) }
    do {
      try connection.reply(to: call, values, isSensitive: isSensitive)
    } catch {
      hooks.report(error)
      reply(to: call, ReplyError.failed("the reply cannot be sent"))
    }
  }

  private func reply(to call: BusMessage, _ error: any Error) {
    sendEvents()
    report(error)
    let reply = ReplyError(describing: error)
    do {
      try connection.reply(to: call, error: reply.name, reply.text)
    } catch {
      // The connection is broken, which the loop notices.
      hooks.report(error)
    }
  }

  /// Reports the errors that the user can do something about.
  private func report(_ error: any Error) {
    switch error {
    case let error as SecretServiceError: if let cause = error.cause { hooks.report(cause) }
    case is ReplyError, BusError.tooLarge, BusError.tooManyElements, BusError.malformed: break
    default: hooks.report(error)
    }
  }

  private func sendEvents() {
    for event in service.takeEvents() {
      let signal = EventSignal(event)
      do {
        try connection.signal(
          signal.member, of: signal.interface, from: signal.path.text, to: signal.receiver, signal.values)
      } catch {
        hooks.report(error)
      }
    }
  }

  // MARK: - Explanations

  private func explain(_ call: BusMessage, _ method: BusMethod, _ values: [BusValue]) {
    guard let explain = hooks.explain, let schema = Self.schema(in: values) else { return }
    let client = clients[call.sender]
    let program = client?.executable ?? "an unknown program"
    let process = client?.process.map { " (process \($0))" } ?? ""
    explain("\(program)\(process) called \(method.name) for \(schema)")
  }

  /// Returns the schema among the attributes in the values of a call.
  private static func schema(in values: [BusValue]) -> String? {
    for value in values {
      switch value {
      case .entry(.string("xdg:schema"), .string(let schema)): return schema
      case .entry(_, let value), .variant(let value):
        if let schema = schema(in: [value]) { return schema }
      case .array(_, let members), .structure(let members):
        if let schema = schema(in: members) { return schema }
      default: break
      }
    }
    return nil
  }
}
