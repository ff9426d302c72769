internal import CSystem
internal import Glibc

/// A connection to a local socket (`unix(7)`). It is closed when it is no longer used.
package struct LocalConnection: ~Copyable {
  /// The socket does not accept connections.
  package struct Failure: Error {
    /// The value of `errno`.
    package let number: Int32
  }

  /// The descriptor. Programs that are started do not inherit it.
  package let descriptor: Int32

  /// Connects to a socket.
  ///
  /// - Parameter path: The socket; not the file of a redirect.
  /// - Throws: `Failure` if the path is too long, or nothing listens there.
  package init(to path: String) throws(Failure) {
    let connected = unsafe keytree_connect_local(path)
    guard connected >= 0 else { throw Failure(number: errno) }
    descriptor = connected
  }

  deinit { close(descriptor) }

  /// Returns the descriptor and gives up its ownership: the caller closes it.
  consuming func release() -> Int32 {
    let descriptor = descriptor
    discard self
    return descriptor
  }

  /// Returns true if a socket accepts connections.
  ///
  /// - Parameter path: The socket.
  package static func isPossible(to path: String) -> Bool {
    do throws(Failure) {
      _ = try LocalConnection(to: path)
      return true
    } catch {
      return false
    }
  }
}
