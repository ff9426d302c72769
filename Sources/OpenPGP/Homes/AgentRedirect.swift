internal import CSystem
internal import Glibc

/// The file in the place of an agent's socket that sends gpg to another socket (libassuan's redirection).
///
/// This is how the secret keys stay where they are: gpg works in the engine home and talks to the user's
/// agent.
struct AgentRedirect: Sendable, Equatable {
  /// Where gpg looks for the socket of the engine home.
  var path: String

  /// The socket that the file names, or nil when there is no such file.
  var socket: String? { Self.target(of: path) }

  /// Whether an agent answers at the named socket.
  var leadsToAnAgent: Bool {
    guard let socket else { return false }
    return unsafe keytree_connect_local(socket) == 0
  }

  /// Writes the file. The folder is made when it is missing: under /run/user GnuPG gives each home one.
  ///
  /// - Parameter socket: The socket of the user's agent, an absolute path.
  /// - Throws: `unsafeEngine` when the folder is not safe; `agentUnreachable` when the path cannot be
  ///   expressed in such a file.
  func point(to socket: String) throws(EngineError) {
    let socket = Self.end(of: socket)
    // libassuan replaces `${NAME}` by the environment, and reads one line.
    guard !socket.contains("${"), !socket.utf8.contains(UInt8(ascii: "\n")) else {
      throw .agentUnreachable(detail: "the agent's socket has a name that cannot be redirected to")
    }
    if let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
      try PrivateFolder.make(String(path[..<end]))
    }
    try SmallFile.write(Array("%Assuan%\nsocket=\(socket)\n".utf8), to: path)
  }

  /// Where a socket really is. A redirect is followed once only, and the user's own home may have one, too.
  ///
  /// - Parameter socket: Where GnuPG says the socket is.
  /// - Returns: The socket, or the one that the file in its place names.
  static func end(of socket: String) -> String { target(of: socket) ?? socket }

  private static func target(of path: String) -> String? {
    guard let bytes = SmallFile.read(path, limit: 4096) else { return nil }
    let lines = bytes.split(separator: UInt8(ascii: "\n"))
    guard let first = lines.first, String(decoding: first, as: UTF8.self) == "%Assuan%" else { return nil }
    for line in lines.dropFirst() where line.starts(with: "socket=".utf8) {
      return String(decoding: line.dropFirst("socket=".utf8.count), as: UTF8.self)
    }
    return nil
  }
}
