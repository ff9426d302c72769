internal import CAssuan
internal import CGPGME
internal import Encoding
internal import Glibc

/// A connection to a running gpg-agent for commands about its keys, through libassuan.
///
/// Starts no process. No secret passes through it: it requests key information and clears cached passphrases.
///
/// This does not use libgpgme's Assuan protocol: libgpgme 1.18 crashes when a read fails, for example because the agent
/// has exited. It passes the result of the read, -1, to its log function as a size, even if no log is written, and that
/// function reads beyond the buffer.
///
/// A write to an agent that has exited must not raise `SIGPIPE`. libgpgme ignores the signal once it is initialized,
/// which is the case in every ``Session``.
@safe
struct AgentConnection: ~Copyable {
  private let library: keytree_assuan
  private let context: assuan_context_t

  /// Connects to the agent.
  ///
  /// - Parameter socket: The agent's socket.
  /// - Throws: `agentUnreachable` when it does not accept the connection, or libgpgme does not use libassuan; `other`
  ///   when memory runs out.
  init(socket: String) throws(EngineError) {
    var library = keytree_assuan()
    guard unsafe keytree_assuan_find(&library) == 1 else {
      throw .agentUnreachable(detail: "libgpgme has not loaded libassuan")
    }
    let connection: LocalConnection
    do throws(LocalConnection.Failure) {
      connection = try LocalConnection(to: socket)
    } catch {
      throw EngineError(error, socket)
    }
    var context: assuan_context_t?
    let problem = unsafe library.assuan_new(&context)
    guard let context = unsafe context else { throw EngineError(problem) }
    // The context owns the descriptor from now on.
    let refusal = unsafe library.assuan_socket_connect_fd(context, connection.release(), 0)
    guard refusal == 0 else {
      unsafe library.assuan_release(context)
      throw Self.unreachable(refusal)
    }
    self.library = library
    unsafe self.context = context
  }

  deinit { unsafe library.assuan_release(context) }

  /// Lists the keys whose secret keys the agent has, or knows on a card.
  ///
  /// - Throws: `restrictedAgent` when this is the agent's restricted socket; `agentUnreachable` when the agent does not
  ///   answer, or refuses the command.
  func keys() throws(EngineError) -> [AgentKey] {
    // GnuPG 2.4 does not refuse the command there, but omits most keys.
    if try isRestricted() { throw .restrictedAgent }
    let lines = StatusLines()
    try send("KEYINFO --list", lines)
    return lines.arguments.compactMap(AgentKey.init)
  }

  /// Returns true if this is the agent's restricted socket.
  ///
  /// - Throws: `agentUnreachable` when the agent does not answer yes or no.
  func isRestricted() throws(EngineError) -> Bool {
    let answer = transact("GETINFO restricted", StatusLines())
    switch gpgme_err_code(answer) {
    case GPG_ERR_NO_ERROR: return true
    case GPG_ERR_FALSE: return false
    default: throw Self.unreachable(answer)
    }
  }

  /// Makes the agent forget all cached passphrases, at once.
  ///
  /// `CLEAR_PASSPHRASE` would wait until another dialog of the agent ends, because it also clears the cache of pinentry.
  ///
  /// - Throws: The errors of ``keys()``.
  func forgetPassphrases() throws(EngineError) { try send("RELOADAGENT", StatusLines()) }

  /// Makes the agent forget the passphrase of a key, if it is cached. Waits until no other dialog is shown.
  ///
  /// - Parameter keygrip: The key.
  /// - Throws: The errors of ``keys()``.
  func forgetPassphrase(of keygrip: Keygrip) throws(EngineError) {
    try send("CLEAR_PASSPHRASE --mode=normal \(keygrip.text)", StatusLines())
  }

  /// Asks the user a question with the buttons OK and Cancel.
  ///
  /// - Parameters:
  ///   - question: The text.
  ///   - cancellation: Ends the dialog; nil if it cannot be ended.
  /// - Returns: True if the user chose OK, false for Cancel.
  /// - Throws: `cancelled` if the dialog was ended, `noPromptPossible`, `restrictedAgent`, `agentUnreachable`.
  func confirm(_ question: String, _ cancellation: Cancellation?) throws(EngineError) -> Bool {
    let lines = StatusLines()
    if let cancellation {
      try send("OPTION allow-pinentry-notify", lines)
      lines.cancellation = cancellation
    }
    // A command is one line without spaces in its arguments.
    let text = question.utf8.map { byte in
      byte == UInt8(ascii: " ")
        ? "+" : Self.isPlain(byte) ? String(UnicodeScalar(byte)) : "%" + Hexadecimal.text([byte])
    }.joined()
    defer { cancellation?.whenCancelled(nil) }
    let failure = transact("GET_CONFIRMATION \(text)", lines)
    if cancellation?.isCancelled == true { throw .cancelled }
    switch gpgme_err_code(failure) {
    case GPG_ERR_NO_ERROR: return true
    case GPG_ERR_CANCELED, GPG_ERR_NOT_CONFIRMED: return false
    default: throw EngineError(failure)
    }
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }

  private func send(_ command: String, _ lines: StatusLines) throws(EngineError) {
    let failure = transact(command, lines)
    guard failure == 0 else {
      if EngineError(failure) == .restrictedAgent { throw .restrictedAgent }
      throw Self.unreachable(failure)
    }
  }

  private func transact(_ command: String, _ lines: StatusLines) -> gpgme_error_t {
    let opaque = unsafe Unmanaged.passUnretained(lines).toOpaque()
    return unsafe library.assuan_transact(
      context, command, nil, nil, StatusLines.inquiry, opaque, StatusLines.callback, opaque)
  }

  private static func unreachable(_ code: gpgme_error_t) -> EngineError {
    .agentUnreachable(detail: unsafe String(cString: gpgme_strerror(code)))
  }
}

extension EngineError {
  /// The agent's socket does not accept a connection.
  init(_ failure: LocalConnection.Failure, _ socket: String) {
    self = .agentUnreachable(detail: "\(socket): \(PrivateFolder.reason(failure.number))")
  }
}

/// Collects the status lines of one answer.
private final class StatusLines {
  private(set) var arguments: [String] = []
  /// Ends the dialog that the agent reports.
  var cancellation: Cancellation?
  /// The dialog that the agent has reported, if it is on this machine.
  private(set) var dialog: PinentryProcess?

  /// Answers the inquiry by which the agent reports that a dialog was started, with nothing.
  static let inquiry: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?) -> gpgme_error_t = {
    if let (lines, arguments) = unsafe StatusLines.arguments(of: "PINENTRY_LAUNCHED", in: $1, $0) {
      lines.dialog = PinentryProcess(launchStatus: arguments)
      if let dialog = lines.dialog { lines.cancellation?.dialogStarted(dialog) }
    }
    return 0
  }

  static let callback: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?) -> gpgme_error_t = {
    if let (lines, arguments) = unsafe StatusLines.arguments(of: "KEYINFO", in: $1, $0) {
      lines.arguments.append(arguments)
    }
    return 0
  }

  /// Returns the rest of a line that starts with a keyword, and the object that `hook` points to.
  private static func arguments(
    of keyword: String, in line: UnsafePointer<CChar>?, _ hook: UnsafeMutableRawPointer?
  ) -> (StatusLines, String)? {
    guard let hook = unsafe hook, let line = unsafe line else { return nil }
    let words = unsafe String(cString: line).split(separator: " ", maxSplits: 1)
    guard words.first == keyword[...] else { return nil }
    let lines = unsafe Unmanaged<StatusLines>.fromOpaque(hook).takeUnretainedValue()
    return (lines, words.count > 1 ? String(words[1]) : "")
  }
}

/// The keygrip, gpg-agent's name of a key: a hash over its public parameters, 40 hexadecimal digits.
struct Keygrip: Hashable, Sendable {
  /// The digits, upper case.
  let text: String

  /// Accepts exactly 40 upper-case hexadecimal digits, because the text becomes part of a command.
  init?(_ text: String) {
    let isDigits = text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x46).contains($0) }
    guard text.utf8.count == 40, isDigits else { return nil }
    self.text = text
  }
}

/// The properties of a secret key that gpg-agent reports (`help KEYINFO` in `gpg-connect-agent`).
struct AgentKey: Equatable, Sendable {
  /// The location and protection of the secret key.
  enum Protection: Sendable {
    /// On this machine, protected by a passphrase.
    case passphrase
    /// On this machine, without a passphrase.
    case none
    /// On a card or a token, which has its own rules; or of an unknown kind.
    case elsewhere
  }

  let keygrip: Keygrip
  let protection: Protection
  /// True if the agent has cached the passphrase.
  let isCached: Bool

  /// Parses the arguments of a status line: keygrip, type, serial number, id, cached, protection, and more.
  init?(_ line: String) {
    let words = line.split(separator: " ")
    guard words.count >= 6, let keygrip = Keygrip(String(words[0])) else { return nil }
    self.keygrip = keygrip
    isCached = words[4] == "1"
    protection =
      switch (words[1], words[5]) {
      case ("D", "P"): .passphrase
      case ("D", "C"): .none
      default: .elsewhere
      }
  }
}
