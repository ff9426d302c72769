internal import Encoding
internal import SecretService
internal import SessionBus

/// An interface of an object on the bus: one table for dispatch, properties and introspection.
struct BusInterface: Sendable {
  /// The full name.
  let name: String
  var methods: [BusMethod] = []
  var properties: [BusProperty] = []
  var signals: [BusSignal] = []
  /// Reads the values of the properties: the one with a name, or all.
  var read: @Sendable (_ call: MethodCall, _ name: String?) throws -> [(name: String, value: BusValue)] = {
    _, _ in []
  }
}

/// A method of an interface.
struct BusMethod: Sendable {
  let name: String
  let inputs: [BusArgument]
  let outputs: [BusArgument]
  /// Handles a call whose values have the signature of the inputs.
  let body: @Sendable (MethodCall) throws -> MethodAnswer

  init(
    _ name: String, _ inputs: [BusArgument], _ outputs: [BusArgument],
    _ body: @escaping @Sendable (MethodCall) throws -> MethodAnswer
  ) {
    (self.name, self.inputs, self.outputs, self.body) = (name, inputs, outputs, body)
  }

  /// The signature of a call.
  var inputSignature: String { inputs.map(\.signature).joined() }

  /// True if a call or its reply contains a secret.
  var isSensitive: Bool {
    (inputs + outputs).contains { $0.signature.contains(bytesOf: WireValues.secretSignature) }
  }
}

/// An argument of a method or signal.
struct BusArgument: Sendable, Equatable {
  let name: String
  let signature: String

  init(_ name: String, _ signature: String) { (self.name, self.signature) = (name, signature) }
}

/// A property of an interface.
struct BusProperty: Sendable {
  let name: String
  let signature: String
  /// Changes the property to a value with its signature; nil if it is read-only.
  let write: (@Sendable (MethodCall, BusValue) throws -> MethodAnswer)?

  init(
    _ name: String, _ signature: String,
    write: (@Sendable (MethodCall, BusValue) throws -> MethodAnswer)? = nil
  ) {
    (self.name, self.signature, self.write) = (name, signature, write)
  }
}

/// A signal of an interface.
struct BusSignal: Sendable {
  let name: String
  let arguments: [BusArgument]

  init(_ name: String, _ arguments: [BusArgument]) { (self.name, self.arguments) = (name, arguments) }
}

/// A call of a method.
struct MethodCall {
  let service: SecretService
  let sender: Sender
  /// The object that the path names.
  let object: ServiceObject
  let values: [BusValue]
}

/// The answer to a call.
enum MethodAnswer {
  /// The values of the reply.
  case now([BusValue])
  /// Work that produces the values of the reply.
  case later(BackgroundWork)
  /// The values of the reply, and work that begins after it.
  case nowAndLater([BusValue], BackgroundWork)

  /// Converts the answer of the service.
  init<Value>(_ answer: Answer<Value>, _ encode: @escaping @Sendable (Value) -> [BusValue]) {
    switch answer {
    case .now(let value): self = .now(encode(value))
    case .later(let work): self = .later(BackgroundWork(work, encode))
    }
  }
}

/// Work of any type for another thread.
struct BackgroundWork: Sendable {
  /// Completes the work on the thread that owns the service, and returns the values of the reply.
  typealias Completion = @Sendable (SecretService) throws -> [BusValue]

  /// The class of the work.
  let lane: WorkLane
  /// Does the work, on any other thread.
  let run: @Sendable () -> Completion

  init(lane: WorkLane, run: @escaping @Sendable () -> Completion) { (self.lane, self.run) = (lane, run) }

  init<Value>(_ work: Work<Value>, _ encode: @escaping @Sendable (Value) -> [BusValue]) {
    lane =
      switch work.kind {
      case .read: .read
      case .write: .write
      case .agent: .agent
      }
    run = {
      let outcome = work.run()
      return { service in encode(try service.finish(outcome)) }
    }
  }
}

/// The classes of work, each with its own threads.
enum WorkLane: CaseIterable, Sendable {
  /// Decrypts secrets.
  case read
  /// Changes the store.
  case write
  /// Waits for the user or the agent.
  case agent

  /// The number of threads.
  var threads: Int {
    switch self {
    case .read: 4
    case .write: 1
    // Bounded by the limits of the service on pending work.
    case .agent: .max
    }
  }
}
