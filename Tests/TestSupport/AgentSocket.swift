internal import Glibc
internal import OpenPGP

/// The socket of a gpg-agent that a test has started.
package enum AgentSocket {
  /// Ends an agent and waits until it is gone. This is what `gpgconf --kill` does with several programs.
  ///
  /// - Parameter path: The socket.
  /// - Returns: False if no agent answers at this path.
  package static func kill(at path: String) -> Bool {
    // It only matters whether an agent answers, not why none does.
    guard let connection = try? LocalConnection(to: path) else { return false }
    let command = Array("KILLAGENT\n".utf8)
    var answer = [UInt8](repeating: 0, count: 256)
    // The agent greets, confirms, and closes the connection.
    let isSent = unsafe command.withUnsafeBytes {
      unsafe send(connection.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
    if isSent == command.count {
      while unsafe recv(connection.descriptor, &answer, answer.count, 0) > 0 {}
    }
    for _ in 0..<2000 where LocalConnection.isPossible(to: path) { usleep(1_000) }
    return true
  }
}
