import Foundation
import Glibc

/// A server of a test: on 127.0.0.1, on a port that was free, with a thread for each connection.
///
/// It ends with the last reference to it.
final class LoopbackServer: Sendable {
  /// The port it listens on.
  let port: Int
  private let listener: Int32

  /// Starts a server.
  ///
  /// - Parameter serve: speaks with one client, and returns when it has nothing more to say to it.
  init(_ serve: @escaping @Sendable (LoopbackConnection) -> Void) throws {
    // No child may keep the port.
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let listener = socket(AF_INET, type, 0)
    self.listener = listener
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard unsafe bind(listener, address, length) == 0, listen(listener, 16) == 0 else { return Int32(-1) }
        return unsafe getsockname(listener, address, &length)
      }
    }
    guard listener >= 0, status == 0 else { throw ProcessesFailure(description: "no port: \(errno)") }
    port = Int(UInt16(bigEndian: address.sin_port))
    Thread {
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { break }
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        Thread { serve(LoopbackConnection(client)) }.start()
      }
      close(listener)
    }.start()
  }

  deinit {
    // The thread waits in `accept`, and sees this as an error.
    shutdown(listener, Int32(SHUT_RDWR))
  }
}

/// A connection to a client of a test; used by one thread.
final class LoopbackConnection {
  private let descriptor: Int32
  private var pending: [UInt8] = []

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit {
    // The client hears of the end, also when a child that was started meanwhile has the descriptor as well.
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
  }

  /// The next line without its line end; nil at the end of what the client says.
  func readLine() -> String? {
    while true {
      if let end = pending.firstIndex(of: 0x0A) {
        let line = pending[..<end]
        pending.removeSubrange(...end)
        return String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
      }
      guard fill() else { return nil }
    }
  }

  /// The next bytes; fewer at the end of what the client says.
  func read(_ count: Int) -> [UInt8] {
    while pending.count < count, fill() {}
    let bytes = Array(pending.prefix(count))
    pending.removeFirst(bytes.count)
    return bytes
  }

  /// Sends bytes; whether the client still listens does not matter.
  func write(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Sends a line with the line end of the net.
  func say(_ line: String) { write(Array((line + "\r\n").utf8)) }

  private func fill() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
    guard count > 0 else { return false }
    pending += buffer[..<count]
    return true
  }
}
