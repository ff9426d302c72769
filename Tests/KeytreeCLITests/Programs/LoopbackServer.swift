import Foundation
import Glibc

/// A test server on a free port of 127.0.0.1, with one thread for each connection.
///
/// The server stops when the last reference to it is released.
final class LoopbackServer: Sendable {
  /// The port on which the server listens.
  let port: Int
  private let listener: Int32

  /// Starts a server.
  ///
  /// - Parameter serve: Serves one client, and returns when the connection is to be closed.
  init(_ serve: @escaping @Sendable (LoopbackConnection) -> Void) throws {
    // A child process must not inherit the port.
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
    // The thread is blocked in `accept`, which now returns an error.
    shutdown(listener, Int32(SHUT_RDWR))
  }
}

/// A connection to a test client; used by one thread.
final class LoopbackConnection {
  private let descriptor: Int32
  private var pending: [UInt8] = []

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit {
    // The client sees the end of the connection even if a child process has inherited the descriptor.
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
  }

  /// Returns the next line without its line end; nil at the end of the client's data.
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

  /// Returns the next bytes; fewer at the end of the client's data.
  func read(_ count: Int) -> [UInt8] {
    while pending.count < count, fill() {}
    let bytes = Array(pending.prefix(count))
    pending.removeFirst(bytes.count)
    return bytes
  }

  /// Sends bytes. It is no error if the client has closed the connection.
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

  /// Sends a line that ends with CRLF.
  func say(_ line: String) { write(Array((line + "\r\n").utf8)) }

  private func fill() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
    guard count > 0 else { return false }
    pending += buffer[..<count]
    return true
  }
}
