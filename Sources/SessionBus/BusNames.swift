internal import Glibc

// The methods of the bus itself (D-Bus specification, "Message Bus Messages").

/// The result of a request for a name.
package enum BusNameResult: Equatable, Sendable {
  /// This connection owns the name.
  case owned
  /// Another connection owns it.
  case taken
}

/// The process behind a connection.
package struct BusClient: Equatable, Sendable {
  /// The user, if the bus knows.
  package let user: UInt32?
  /// The process, if the bus knows.
  package let process: UInt32?

  /// The path of the process's program, also if that was replaced since; nil if it cannot be read.
  package var executable: String? { program?.path }

  /// True if the file of the process's program was replaced or removed since the process began, for example by an
  /// upgrade.
  package var isOutdated: Bool { program?.isGone ?? false }

  private var program: (path: String, isGone: Bool)? {
    guard let process else { return nil }
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/\(process)/exe", &buffer, buffer.count)
    guard count > 0 else { return nil }
    let path = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // The kernel adds this (proc_pid_exe(5)).
    let mark = " (deleted)"
    guard path.hasSuffix(mark), unsafe access(path, F_OK) != 0 else { return (path, false) }
    return (String(path.dropLast(mark.count)), true)
  }

  /// The systemd unit of the process; nil if it has none or it cannot be read.
  package var unit: String? {
    guard let process, let file = unsafe fopen("/proc/\(process)/cgroup", "re") else { return nil }
    defer { unsafe fclose(file) }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe fread(&buffer, 1, buffer.count, file)
    return Self.unit(ofControlGroup: String(decoding: buffer[..<count], as: UTF8.self))
  }

  /// Returns the last unit in the path of a control group (cgroups(7)): the service or scope that the process is in.
  static func unit(ofControlGroup text: String) -> String? {
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      let unit = parts[2].split(separator: "/").last { $0.hasSuffix(".service") || $0.hasSuffix(".scope") }
      if let unit { return String(unit) }
    }
    return nil
  }
}

extension BusConnection {
  static let busName = "org.freedesktop.DBus"
  private static let busPath = "/org/freedesktop/DBus"

  /// Requests a name, and lets others replace this owner. It never waits in the queue for the name.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - replacing: True to take the name from an owner that allows it.
  /// - Throws: The errors of ``call(_:of:at:in:_:isSensitive:seconds:)``.
  package func requestName(_ name: String, replacing: Bool) throws(BusError) -> BusNameResult {
    // DBUS_NAME_FLAG_ALLOW_REPLACEMENT, REPLACE_EXISTING and DO_NOT_QUEUE.
    let flags: UInt32 = 1 | (replacing ? 2 : 0) | 4
    let reply = try askBus("RequestName", [.string(name), .uint32(flags)])
    switch reply.first {
    // DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER and ALREADY_OWNER.
    case .uint32(1), .uint32(4): return .owned
    case .uint32: return .taken
    default: throw .unexpectedReply(member: "RequestName")
    }
  }

  /// Returns the unique name of the connection that owns a name; nil if it has no owner.
  ///
  /// - Throws: The errors of ``call(_:of:at:in:_:isSensitive:seconds:)``.
  package func owner(of name: String) throws(BusError) -> String? {
    do throws(BusError) {
      let reply = try askBus("GetNameOwner", [.string(name)])
      guard case .string(let owner)? = reply.first else { throw .unexpectedReply(member: "GetNameOwner") }
      return owner
    } catch {
      if case .errorReply("org.freedesktop.DBus.Error.NameHasNoOwner", _) = error { return nil }
      throw error
    }
  }

  /// Returns what the bus knows about the process behind a name.
  ///
  /// - Throws: The errors of ``call(_:of:at:in:_:isSensitive:seconds:)``; `errorReply` if the name has no owner.
  package func client(_ name: String) throws(BusError) -> BusClient {
    let reply = try askBus("GetConnectionCredentials", [.string(name)])
    guard case .array("{sv}", let entries)? = reply.first else {
      throw .unexpectedReply(member: "GetConnectionCredentials")
    }
    var (user, process) = (nil as UInt32?, nil as UInt32?)
    for case .entry(.string(let key), .variant(.uint32(let number))) in entries {
      switch key {
      case "UnixUserID": user = number
      case "ProcessID": process = number
      default: break
      }
    }
    return BusClient(user: user, process: process)
  }

  private func askBus(_ member: String, _ values: [BusValue]) throws(BusError) -> [BusValue] {
    try call(member, of: Self.busName, at: Self.busPath, in: Self.busName, values)
  }
}
