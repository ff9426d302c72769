internal import CSystem
internal import Glibc

/// A connection to a local socket (`unix(7)`). It is closed when it is no longer used.
package struct LocalConnection: ~Copyable {
  /// The socket does not accept connections.
  package struct Failure: Error {
    /// The value of `errno`.
    package let number: Int32
  }

  /// The descriptor; programs that are started do not inherit it.
  package let descriptor: Int32

  /// Connects to a socket.
  ///
  /// - Parameter path: The socket; not the file of a redirect.
  /// - Throws: `Failure` if the path is too long, or nothing listens there.
  package init(to path: String) throws(Failure) {
    descriptor = unsafe keytree_connect_local(path)
    guard descriptor >= 0 else { throw Failure(number: errno) }
  }

  deinit { Glibc.close(descriptor) }

  /// Closes this object without closing the connection.
  ///
  /// - Returns: The descriptor, which the caller closes.
  consuming func release() -> Int32 {
    let descriptor = descriptor
    discard self
    return descriptor
  }

  /// The process that listens on a socket; 0 if it is in another namespace, and nil if the socket does not accept
  /// connections.
  ///
  /// It accepted connections before, as long as this id stays the same.
  ///
  /// - Parameter path: The socket.
  static func listener(at path: String) -> pid_t? {
    guard let connection = try? LocalConnection(to: path) else { return nil }
    let process = keytree_listening_process(connection.descriptor)
    return process < 0 ? nil : process
  }
}
