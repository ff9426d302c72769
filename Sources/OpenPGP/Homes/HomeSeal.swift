internal import Encoding
internal import FileSystem
internal import Glibc

/// The facts that show whether an engine home is still as it was written. They are cheap to compare: no process is
/// started, and the keys are not read.
///
/// They are in the file `ready`, which is written last, so it also marks a home as finished: the boot id, the stamps of
/// the files that never change, the agent's socket, and the path of the redirect. gpg changes no file of the home, as
/// GnuPG 2.2 and 2.4 show.
///
/// The boot id is there because a home is not flushed to disk. In a cache folder a power cut may keep this file and lose
/// files that were written before it.
struct HomeSeal: Sendable {
  /// The file that redirects gpg to the user's agent.
  let redirect: AgentRedirect
  /// The socket of the agent, which the redirect names.
  let socket: String
  private let bytes: [UInt8]

  /// Takes the stamps of a home that is otherwise finished.
  ///
  /// - Parameters:
  ///   - home: The folder.
  ///   - redirect: The file that redirects gpg to the user's agent.
  ///   - socket: The socket that the file names.
  /// - Throws: `unsafeEngine` when a file does not exist.
  init(of home: String, redirect: AgentRedirect, socket: String) throws(EngineError) {
    (self.redirect, self.socket) = (redirect, socket)
    guard let bytes = Self.bytes(home, redirect, socket) else {
      throw .unsafeEngine(path: home, reason: "a file in it has disappeared")
    }
    self.bytes = bytes
  }

  /// Reads the seal of a finished home.
  ///
  /// - Parameter home: The folder.
  /// - Returns: nil if the home is not finished, or differs from what was written.
  init?(of home: String) {
    guard let bytes = SmallFile.read(Self.path(in: home), limit: Self.limit),
      let (redirect, socket) = Self.parse(bytes)
    else { return nil }
    (self.redirect, self.socket, self.bytes) = (redirect, socket, bytes)
    guard isIntact(home) else { return nil }
  }

  /// Marks the home as finished.
  ///
  /// - Parameter home: The folder.
  /// - Throws: `unsafeEngine` when the file cannot be written.
  func write(to home: String) throws(EngineError) { try SmallFile.write(bytes, to: Self.path(in: home)) }

  /// Returns true if the home is the one of this seal, and nothing in it has changed, except for the default signer.
  ///
  /// - Parameter home: The folder.
  func isIntact(_ home: String) -> Bool {
    PrivateFolder.isPrivate(home)
      && SmallFile.read(Self.path(in: home), limit: Self.limit, isOwn: true) == bytes
      && Self.bytes(home, redirect, socket) == bytes
      && redirect.isWritten(for: socket)
      && SmallFile.read(home + "/gpg.conf", limit: Self.limit, isOwn: true).map(EngineConfiguration.isValid)
        == true
      && FolderNames.text(at: home).allSatisfy { isExpected($0, in: home) }
  }

  /// Returns true for the names that a finished home may have.
  ///
  /// GnuPG prefers some files to those that Keytree writes, for example `gpg.conf-2` to `gpg.conf`.
  ///
  /// - Parameters:
  ///   - name: A name in the folder.
  ///   - home: The folder.
  func isExpected(_ name: String, in home: String) -> Bool {
    Self.files.contains(name) || name == "ready" || "\(home)/\(name)" == redirect.path
      // Processes that use the home put messages into such folders, and replace gpg.conf through such files.
      || name.hasPrefix(Self.verification) || name == "gpg.conf" || name.hasPrefix("gpg.conf.")
  }

  /// Returns the path of the file.
  ///
  /// - Parameter home: The folder.
  static func path(in home: String) -> String { home + "/ready" }

  /// Parses the path of the redirect, with any boot id and stamps.
  ///
  /// - Parameter home: The folder of a home, finished or not.
  /// - Returns: The redirect; nil if it is not known.
  static func redirect(of home: String) -> AgentRedirect? {
    SmallFile.read(path(in: home), limit: limit).flatMap(parse)?.redirect
  }

  /// The start of the names of folders in a home that exist during a verification.
  static let verification = "verify-"
  /// The files that never change.
  private static let files = ["common.conf", "gpg-version", "keytree-keys", "lock", "pubring.kbx"]
  private static let limit = 16_384
  private static let start = "keytree-engine \(EngineHome.layout)"

  /// Returns the content of the file for the present state of the others; nil if one does not exist.
  private static func bytes(_ home: String, _ redirect: AgentRedirect, _ socket: String) -> [UInt8]? {
    var text = "\(start)\nboot \(bootID)\n"
    for name in files {
      var status = stat()
      guard unsafe lstat("\(home)/\(name)", &status) == 0 else { return nil }
      text += "\(name) \(Hexadecimal.text(FileStatus(status).stamp.stored))\n"
    }
    text += "socket \(socket)\nredirect \(redirect.path)\n"
    return Array(text.utf8)
  }

  private static func parse(_ bytes: [UInt8]) -> (redirect: AgentRedirect, socket: String)? {
    let text = String(decoding: bytes, as: UTF8.self)
    // Only the last field may have line feeds.
    let lines = text.split(separator: "\n", maxSplits: files.count + 3, omittingEmptySubsequences: false)
    guard lines.count == files.count + 4, lines[0] == start,
      let socket = value("socket", in: lines[files.count + 2]),
      let path = value("redirect", in: lines[files.count + 3]), path.hasPrefix("/"), path.hasSuffix("\n")
    else { return nil }
    return (AgentRedirect(path: String(path.dropLast())), String(socket))
  }

  private static func value(_ name: String, in line: Substring) -> Substring? {
    line.hasPrefix(name + " ") ? line.dropFirst(name.count + 1) : nil
  }

  /// The boot id of the machine, as described in `random(4)`. Empty if it cannot be read.
  private static let bootID: String = {
    let file = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
    return String(decoding: bytes.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }()
}
