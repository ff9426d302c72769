internal import CGPGME
internal import Encoding
internal import Glibc

/// A connection to a running gpg-agent for commands about its keys, through libgpgme's low-level Assuan protocol.
///
/// Starts no process. No secret passes through it: it requests key information and clears cached passphrases.
@safe
struct AgentConnection: ~Copyable {
  private let context: gpgme_ctx_t

  /// Prepares a connection. The first command connects to the agent.
  ///
  /// - Parameter socket: The agent's socket.
  /// - Throws: The error of libgpgme, for example when memory runs out.
  init(socket: String) throws(EngineError) {
    let context = try unsafe Context.bare()
    let code = unsafe gpgme_set_protocol(context, GPGME_PROTOCOL_ASSUAN)
    guard code == 0 else {
      unsafe gpgme_release(context)
      throw EngineError(code)
    }
    guard let engine = unsafe Library.engine(GPGME_PROTOCOL_ASSUAN, in: context) else {
      unsafe gpgme_release(context)
      throw .engineMissing(detail: Library.noEngine)
    }
    unsafe free(engine.pointee.file_name)
    unsafe engine.pointee.file_name = strdup(socket)
    // libgpgme refuses an engine without a version, and sets none for a socket.
    if unsafe engine.pointee.version == nil { unsafe engine.pointee.version = strdup("1.0") }
    unsafe self.context = context
  }

  deinit { unsafe gpgme_release(context) }

  /// Lists the keys whose secret keys the agent has, or knows on a card.
  ///
  /// - Throws: `restrictedAgent` when this is the agent's restricted socket; `agentUnreachable` when the agent does not
  ///   answer, or refuses the command.
  func keys() throws(EngineError) -> [AgentKey] {
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
    default: throw .agentUnreachable(detail: unsafe String(cString: gpgme_strerror(answer)))
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
      throw .agentUnreachable(detail: unsafe String(cString: gpgme_strerror(failure)))
    }
  }

  private func transact(_ command: String, _ lines: StatusLines) -> gpgme_error_t {
    var answer: gpgme_error_t = 0
    let opaque = unsafe Unmanaged.passUnretained(lines).toOpaque()
    let code = unsafe gpgme_op_assuan_transact_ext(
      context, command, nil, nil, StatusLines.inquiry, opaque, StatusLines.callback, opaque, &answer)
    return code == 0 ? answer : code
  }
}

/// Collects the status lines of one answer.
private final class StatusLines {
  private(set) var arguments: [String] = []
  /// Ends the dialog that the agent reports.
  var cancellation: Cancellation?

  /// Answers the inquiry by which the agent reports that a dialog was started, with nothing.
  static let inquiry: gpgme_assuan_inquire_cb_t = { hook, name, arguments, _ in
    guard let hook = unsafe hook, let name = unsafe name, let arguments = unsafe arguments else { return 0 }
    if unsafe String(cString: name) == "PINENTRY_LAUNCHED" {
      let lines = unsafe Unmanaged<StatusLines>.fromOpaque(hook).takeUnretainedValue()
      lines.cancellation?.dialogStarted(unsafe String(cString: arguments))
    }
    return 0
  }

  static let callback: gpgme_assuan_status_cb_t = { hook, status, arguments in
    guard let hook = unsafe hook, let status = unsafe status, let arguments = unsafe arguments else {
      return 0
    }
    if unsafe String(cString: status) == "KEYINFO" {
      let lines = unsafe Unmanaged<StatusLines>.fromOpaque(hook).takeUnretainedValue()
      lines.arguments.append(unsafe String(cString: arguments))
    }
    return 0
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
