internal import CSystem
internal import Glibc

/// The socket of a gpg-agent that a test has started.
package enum AgentSocket {
  /// Ends an agent and waits until it is gone. This is what `gpgconf --kill` does with several programs.
  ///
  /// - Parameter path: The socket.
  /// - Returns: False if no agent answers at this path.
  package static func kill(at path: String) -> Bool {
    guard let descriptor = connect(to: path) else { return false }
    let command = Array("KILLAGENT\n".utf8)
    var answer = [UInt8](repeating: 0, count: 256)
    // The agent greets, confirms, and closes the connection.
    let isSent = unsafe command.withUnsafeBytes {
      unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
    if isSent == command.count {
      while unsafe recv(descriptor, &answer, answer.count, 0) > 0 {}
    }
    Glibc.close(descriptor)
    for _ in 0..<2000 where unsafe keytree_connect_local(path) == 0 { usleep(1_000) }
    return true
  }

  private static func connect(to path: String) -> Int32? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let status = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(descriptor, $0, size)
      }
    }
    guard status == 0 else {
      Glibc.close(descriptor)
      return nil
    }
    return descriptor
  }
}
