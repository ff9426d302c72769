internal import KeyringModel

/// The senders that use the service: their sessions, prompts and pending work.
struct SenderTable {
  private struct Entry {
    var sessions: Set<SessionID> = []
    var prompts: Set<PromptID> = []
    var work = 0

    var isUnused: Bool { sessions.isEmpty && prompts.isEmpty && work == 0 }
  }

  /// A session.
  private struct Session {
    let sender: Sender
    let cipher: SessionCipher
  }

  private var entries: [Sender: Entry] = [:]
  private var sessions: [SessionID: Session] = [:]
  private var work = 0

  // MARK: Sessions

  /// Checks that a sender can open another session.
  ///
  /// - Throws: `limitsExceeded`.
  func checkSession(of sender: Sender) throws {
    try check(sender, { $0.sessions.count < ServiceLimits.sessions }, "sessions")
  }

  /// Opens a session.
  ///
  /// - Throws: `limitsExceeded`.
  mutating func open(_ cipher: SessionCipher, for sender: Sender) throws -> SessionID {
    try checkSession(of: sender)
    var generator = SystemRandomNumberGenerator()
    let id = SessionID(using: &generator)
    sessions[id] = Session(sender: sender, cipher: cipher)
    entries[sender, default: Entry()].sessions.insert(id)
    return id
  }

  /// Returns the sender of a session; nil if it does not exist.
  func sender(of session: SessionID) -> Sender? { sessions[session]?.sender }

  /// Returns the cipher of a session.
  ///
  /// - Throws: `noSession` if it does not exist or belongs to another sender.
  func cipher(of session: ObjectPath, for sender: Sender) throws -> SessionCipher {
    guard case .session(let id)? = ServicePath(session), let found = sessions[id], found.sender == sender
    else {
      throw SecretServiceError(.noSession, "There is no such session.")
    }
    return found.cipher
  }

  /// Closes a session of a sender.
  mutating func close(_ session: SessionID, of sender: Sender) {
    sessions[session] = nil
    entries[sender]?.sessions.remove(session)
    removeIfUnused(sender)
  }

  // MARK: Prompts

  /// Adds a prompt.
  ///
  /// - Throws: `limitsExceeded`.
  mutating func add(_ prompt: PromptID, of sender: Sender) throws {
    try check(sender, { $0.prompts.count < ServiceLimits.prompts }, "prompts")
    entries[sender, default: Entry()].prompts.insert(prompt)
  }

  /// Removes a prompt.
  mutating func remove(_ prompt: PromptID, of sender: Sender) {
    entries[sender]?.prompts.remove(prompt)
    removeIfUnused(sender)
  }

  // MARK: Work

  /// Counts work that is about to start.
  ///
  /// - Throws: `limitsExceeded`.
  mutating func begin(_ sender: Sender) throws {
    guard work < ServiceLimits.work else { throw Self.exceeded("pending calls of all clients") }
    try check(sender, { $0.work < ServiceLimits.workPerSender }, "pending calls")
    entries[sender, default: Entry()].work += 1
    work += 1
  }

  /// Counts finished work.
  mutating func end(_ sender: Sender) {
    entries[sender]?.work -= 1
    work -= 1
    removeIfUnused(sender)
  }

  // MARK: Senders

  /// Closes the sessions of a sender that has left the bus, and forgets its prompts.
  ///
  /// - Returns: The prompts.
  mutating func remove(_ sender: Sender) -> Set<PromptID> {
    guard let entry = entries[sender] else { return [] }
    for session in entry.sessions { sessions[session] = nil }
    entries[sender]?.sessions = []
    entries[sender]?.prompts = []
    removeIfUnused(sender)
    return entry.prompts
  }

  private mutating func removeIfUnused(_ sender: Sender) {
    if entries[sender]?.isUnused == true { entries[sender] = nil }
  }

  private func check(_ sender: Sender, _ allows: (Entry) -> Bool, _ what: String) throws {
    guard let entry = entries[sender] else {
      guard entries.count < ServiceLimits.senders else { throw Self.exceeded("clients") }
      return
    }
    guard allows(entry) else { throw Self.exceeded(what) }
  }

  private static func exceeded(_ what: String) -> SecretServiceError {
    SecretServiceError(.limitsExceeded, "There are too many \(what).")
  }
}
