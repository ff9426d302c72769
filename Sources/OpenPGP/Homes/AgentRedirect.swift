internal import Encoding
internal import FileSystem
internal import Glibc

/// The file at the path of an agent's socket that redirects gpg to another socket (libassuan's redirection).
///
/// gpg works in the engine home and uses the user's agent, so secret keys stay in the user's agent.
struct AgentRedirect: Sendable, Equatable {
  /// The path where gpg expects the socket of the engine home.
  var path: String

  /// The socket that the file names; nil if the file does not exist.
  var socket: String? { Self.target(of: path) }

  /// The redirect and its socket at one time.
  struct State: Equatable {
    let redirect: AgentRedirect
    let stamp: FileStamp
    let socket: String
    let socketStamp: FileStamp
  }

  /// The present state; nil if the file or the socket does not exist.
  ///
  /// An agent that starts makes a new socket, unless a program such as systemd makes the socket for it. If the state is
  /// the same before and after an operation, no agent has made this socket in between, and no program has written the
  /// file.
  var state: State? {
    do throws(FileError) {
      guard let socket else { return nil }
      return State(
        redirect: self, stamp: try FileStatus(of: path).stamp, socket: socket,
        socketStamp: try FileStatus(of: socket).stamp)
    } catch {
      return nil
    }
  }

  /// Writes the file. Creates its folder if it is missing: under /run/user each GnuPG home has its own.
  ///
  /// - Parameter socket: The socket of the user's agent, an absolute path.
  /// - Throws: `unsafeEngine` when the folder is not safe; `agentUnreachable` when the path cannot be written in such
  ///   a file.
  func point(to socket: String) throws(EngineError) {
    let socket = Self.end(of: socket)
    // libassuan replaces `${NAME}` by an environment variable, and reads one line.
    guard !socket.contains(bytesOf: "${"), !socket.utf8.contains(UInt8(ascii: "\n")) else {
      throw .agentUnreachable(detail: "the agent's socket has a name that cannot be redirected to")
    }
    if let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
      try PrivateFolder.make(String(path[..<end]))
    }
    try SmallFile.write(Self.bytes(socket), to: path)
  }

  /// Returns true if the file is as ``point(to:)`` writes it.
  ///
  /// - Parameter socket: The final path of the socket.
  func isWritten(for socket: String) -> Bool {
    SmallFile.read(path, limit: 4096, isOwn: true) == Self.bytes(socket)
  }

  private static func bytes(_ socket: String) -> [UInt8] { Array("%Assuan%\nsocket=\(socket)\n".utf8) }

  /// Returns the final path of a socket. libassuan follows only one redirect, and the user's own home may have one,
  /// too.
  ///
  /// - Parameter socket: The path that GnuPG reports.
  /// - Returns: The path, or the one that a redirect there names.
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
