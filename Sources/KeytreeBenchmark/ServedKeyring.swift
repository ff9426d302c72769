internal import Glibc
internal import Secrets
internal import SessionBus

/// A program that serves the keyring of a desktop on a private bus, and a client that calls it.
final class ServedKeyring {
  /// The name of the program in the report.
  let name: String
  private let command: Command
  private let bus: ChildProcess
  private let client: BusConnection
  private var service: ChildProcess?
  private var session = ""

  private static let busName = "org.freedesktop.secrets"
  private static let root = "/org/freedesktop/secrets"
  private static let interface = "org.freedesktop.Secret."

  /// Starts the bus, but not the program.
  ///
  /// - Parameters:
  ///   - name: The name in the report.
  ///   - place: An empty folder for the bus.
  ///   - bench: The workbench.
  ///   - command: The program, without the address of the bus.
  /// - Throws: `programMissing` without `dbus-daemon`; `unexpected` if the bus does not start.
  init(_ name: String, in place: String, _ bench: Workbench, _ command: Command) throws(BenchmarkError) {
    let address = "unix:path=\(place)/bus"
    let configuration = """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
       "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig>
        <type>session</type><listen>\(address)</listen><auth>EXTERNAL</auth>
        <policy context="default">
          <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
        </policy>
        <limit name="max_message_size">1000000000</limit>
        <limit name="max_incoming_bytes">1000000000</limit>
        <limit name="max_outgoing_bytes">1000000000</limit>
      </busconfig>

      """
    try Files.makeFolder(place)
    try Files.write(Array(configuration.utf8), to: "\(place)/bus.conf")
    let daemon = try bench.programs.find("dbus-daemon")
    bus = try ChildProcess(bench.command(daemon, ["--nofork", "--config-file=\(place)/bus.conf"]))
    client = try Self.connect(address)
    var command = command
    command.environment.append("DBUS_SESSION_BUS_ADDRESS=\(address)")
    (self.name, self.command) = (name, command)
  }

  /// Connects to a bus that is starting.
  private static func connect(_ address: String) throws(BenchmarkError) -> BusConnection {
    for _ in 0..<patience {
      // The socket does not exist yet.
      if let connection = try? BusConnection(address: address) { return connection }
      usleep(1000)
    }
    throw .unexpected("no bus at \(address)")
  }

  /// The number of milliseconds to wait for a program.
  private static let patience = 60_000

  // MARK: Start

  /// Stops the program and the bus.
  func close() {
    stop()
    client.close()
    kill(bus.identifier, SIGTERM)
    _ = bus.wait()
  }

  private func stop() {
    guard let service else { return }
    kill(service.identifier, SIGTERM)
    _ = service.wait()
    self.service = nil
  }

  /// Starts the program again.
  ///
  /// - Parameter number: The number of an item to search.
  /// - Returns: The time until it owns its name, and until it has answered a search, in seconds.
  func start(searching number: Int) throws(BenchmarkError) -> (owned: Double, searched: Double) {
    stop()
    while try busCall({ () throws(BusError) in try client.owner(of: Self.busName) }) != nil { usleep(1000) }
    let begin = Clock.now
    service = try ChildProcess(command)
    var waited = 0
    while try busCall({ () throws(BusError) in try client.owner(of: Self.busName) }) == nil {
      waited += 1
      guard waited < Self.patience else { throw .unexpected("\(name) does not start") }
      usleep(500)
    }
    let owned = Clock.now - begin
    _ = try search(number)
    let searched = Clock.now - begin
    let opened = try call("OpenSession", "Service", Self.root, [.string("plain"), .variant(.string(""))])
    guard case .objectPath(let path)? = opened.last else { throw .unexpected("\(name) opens no session") }
    session = path
    try unlock()
    return (owned, searched)
  }

  /// Unlocks the default collection. Neither program has to ask for a passphrase.
  private func unlock() throws(BenchmarkError) {
    let alias = try call("ReadAlias", "Service", Self.root, [.string("default")])
    guard case .objectPath(let collection)? = alias.first else {
      throw .unexpected("\(name) has no default collection")
    }
    let result = try call("Unlock", "Service", Self.root, [.objectPaths([collection])])
    guard result.first == .objectPaths([collection]) else {
      throw .unexpected("\(name) does not unlock its collection")
    }
  }

  /// The resident memory of the program, in bytes.
  var memory: Int {
    guard let service, let bytes = try? Files.read("/proc/\(service.identifier)/statm") else { return 0 }
    let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * sysconf(Int32(_SC_PAGESIZE))
  }

  // MARK: Calls

  /// Searches one of the sample items by two attributes.
  ///
  /// - Returns: Its path.
  /// - Throws: `unexpected` if the search does not find exactly one item.
  func search(_ number: Int) throws(BenchmarkError) -> String {
    let pairs = SampleIndex.served(number).filter { ["server", "number"].contains($0.name) }
    let found = try call(
      "SearchItems", "Service", Self.root, [.strings(pairs.map { ($0.name, $0.value) })])
    for case .array(_, let paths) in found {
      if paths.count == 1, case .objectPath(let path) = paths[0] { return path }
    }
    throw .unexpected("\(name) does not find item \(number)")
  }

  /// Reads the properties of an item.
  func properties(of item: String) throws(BenchmarkError) {
    _ = try busCall { () throws(BusError) in
      try client.call(
        "GetAll", of: "org.freedesktop.DBus.Properties", at: item, in: Self.busName,
        [.string(Self.interface + "Item")])
    }
  }

  /// Creates an item in the default collection, or replaces one.
  ///
  /// - Returns: Its path.
  func create(_ number: Int, secret: String) throws(BenchmarkError) -> String {
    let bytes = BusValue.bytes(SecretSlice(SecretBytes(copying: Array(secret.utf8))))
    let none = BusValue.bytes(SecretSlice(SecretBytes(copying: [])))
    let properties = BusValue.dictionary([
      (Self.interface + "Item.Label", .string("new \(number)")),
      (
        Self.interface + "Item.Attributes",
        .strings([("xdg:schema", "org.example.New"), ("new", "\(number)")])
      ),
    ])
    let created = try call(
      "CreateItem", "Collection", Self.root + "/aliases/default",
      [properties, .structure([.objectPath(session), none, bytes, .string("text/plain")]), .boolean(true)])
    guard case .objectPath(let path)? = created.first, path != "/" else {
      throw .unexpected("\(name) creates no item")
    }
    return path
  }

  /// Reads the secret of an item.
  ///
  /// - Throws: `unexpected` if it is not the expected one.
  func read(_ item: String, expecting secret: String) throws(BenchmarkError) {
    let reply = try call("GetSecret", "Item", item, [.objectPath(session)])
    guard case .structure(let members)? = reply.first, members.count == 4,
      case .bytes(let bytes) = members[2],
      bytes.isEqual(to: SecretSlice(SecretBytes(copying: Array(secret.utf8))))
    else { throw .unexpected("\(name) returns another secret") }
  }

  private func call(
    _ member: String, _ interface: String, _ path: String, _ values: [BusValue]
  ) throws(BenchmarkError) -> [BusValue] {
    try busCall { () throws(BusError) in
      try client.call(member, of: Self.interface + interface, at: path, in: Self.busName, values)
    }
  }

  private func busCall<R>(_ body: () throws(BusError) -> R) throws(BenchmarkError) -> R {
    do throws(BusError) {
      return try body()
    } catch {
      throw .unexpected("\(name): \(error)")
    }
  }
}
