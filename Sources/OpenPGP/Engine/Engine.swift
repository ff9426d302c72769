internal import CSystem
package import Encoding
internal import Glibc
package import KeyringModel
internal import Synchronization

/// OpenPGP by libgpgme, in a private GnuPG home that redirects to the user's agent.
///
/// Several threads may use one engine concurrently: each call has its own libgpgme context. Nothing is started before
/// the first call that needs it.
package final class Engine: OpenPGPEngine {
  let maker: EngineHomeMaker
  let interaction: Interaction
  let locations: EngineLocations
  private let keyringID: String
  /// True if messages of other programs are decrypted. Those do not contain the digest of their recipients.
  let acceptsForeignMessages: Bool
  /// Ends the calls that wait for the user; nil if they cannot be ended.
  let cancellation: Cancellation?
  let wanted: [Fingerprint]
  /// The counts of this engine and of those that ``with(keys:)`` derives from it.
  let counter: ProcessCounter
  /// The keygrips of people's keys that were requested so far.
  let keygrips = Mutex<[Fingerprint: [SubkeyGrip]]>([:])
  /// The signers that had to be given to libgpgme.
  let signerKeys = Mutex<[Fingerprint: SignerKey]>([:])
  /// The number of signing operations.
  let signings = Atomic(0)
  private let state = Mutex(State())
  /// Held by the thread that repairs the connection to the agent.
  let mending = Mutex<Void>(())

  private struct State {
    var program: Library.Program?
    var gpgconf = ""
    var home: EngineHome?
    var isAgentConnectionChecked = false
    var failedRepairs: (count: Int, error: EngineError?) = (0, nil)
  }

  /// The maximum size of a message, in bytes: the largest secret, the overhead of GnuPG, and a margin.
  package static let messageLimit = 2 << 20

  /// Creates an engine. This is cheap: no file is read and no process started.
  ///
  /// - Parameters:
  ///   - locations: The folders and the search path on this machine.
  ///   - keyringID: The keyring; each has its own engine home.
  ///   - keys: The people's key files by primary fingerprint. Keys in them with another fingerprint are not used.
  ///   - interaction: The way to ask for a passphrase.
  ///   - acceptsForeignMessages: True to decrypt messages of other programs, and only these, and to encrypt like them.
  package convenience init(
    locations: EngineLocations, keyringID: String, keys: [Fingerprint: [UInt8]], interaction: Interaction,
    acceptsForeignMessages: Bool = false
  ) {
    self.init(locations, keyringID, keys, interaction, acceptsForeignMessages, ProcessCounter())
  }

  private init(
    _ locations: EngineLocations, _ keyringID: String, _ keys: [Fingerprint: [UInt8]],
    _ interaction: Interaction, _ acceptsForeignMessages: Bool, _ counter: ProcessCounter,
    _ cancellation: Cancellation? = nil
  ) {
    self.cancellation = cancellation
    self.acceptsForeignMessages = acceptsForeignMessages
    self.locations = locations
    self.keyringID = keyringID
    self.interaction = interaction
    self.counter = counter
    wanted = keys.keys.sorted()
    maker = EngineHomeMaker(locations: locations, keyringID: keyringID, keys: keys)
  }

  /// Creates an engine with the keys of another one whose calls can be ended.
  private init(_ other: Engine, _ cancellation: Cancellation) {
    self.cancellation = cancellation
    (acceptsForeignMessages, locations, keyringID) = (
      other.acceptsForeignMessages, other.locations, other.keyringID
    )
    (interaction, counter, wanted, maker) = (other.interaction, other.counter, other.wanted, other.maker)
  }

  package var statistics: EngineStatistics { counter.statistics }

  package func warmUp() {
    // The thread retains the engine until the work is done.
    let engine = unsafe Unmanaged.passRetained(self)
    let problem = unsafe keytree_in_background(
      { context in
        guard let context = unsafe context else { return nil }
        // An error occurs again in the first real call and is reported there.
        _ = try? unsafe Unmanaged<Engine>.fromOpaque(context).takeRetainedValue().session()
        return nil
      }, engine.toOpaque())
    if problem != 0 { unsafe engine.release() }
  }

  package func recipients(of ciphertext: UnsafeRawBufferPointer) throws(MessageError) -> [KeyID] {
    try unsafe MessageHeader.parse(ciphertext, limit: Self.messageLimit).recipients
  }

  package func containerDigest(of ciphertext: UnsafeRawBufferPointer) throws(MessageError) -> ContentDigest {
    let header = try unsafe MessageHeader.parse(ciphertext, limit: Self.messageLimit)
    var content: [UInt8] = []
    for part in header.content { unsafe content += ciphertext[part] }
    return ContentDigest(of: content)
  }

  package func checkRecipients(_ recipients: [Recipient]) throws(EngineError) {
    _ = try home().table.encryptionSubkeys(of: recipients, at: Self.now)
  }

  package func owners(of id: KeyID) throws(EngineError) -> [Fingerprint] { try home().table.owners(of: id) }

  package func publicKeys() throws(EngineError) -> [PublicKey] {
    try home().table.keys.values.sorted { $0.fingerprint < $1.fingerprint }
  }

  package func ownPeople() throws(EngineError) -> [Fingerprint] {
    let counter = counter
    let keyring = UserKeyring(locations: locations, processStarted: { counter.processStarted() })
    return try keyring.secretKeys().map(\.fingerprint)
  }

  package func with(keys: [Fingerprint: [UInt8]]) -> any OpenPGPEngine {
    Engine(locations, keyringID, keys, interaction, acceptsForeignMessages, counter, cancellation)
  }

  package func with(_ cancellation: Cancellation) -> any OpenPGPEngine {
    Engine(self, cancellation)
  }

  /// The current time of the clock that gpg uses.
  static var now: Timestamp { Timestamp(seconds: time(nil)) }

  // MARK: Requirements of a call

  /// A checked gpg, and a home for it.
  struct Session {
    var program: Library.Program
    var home: EngineHome
  }

  /// Prepares the program and the home for an operation of gpg. A home that differs from what was written is made again.
  ///
  /// - Returns: The checked program and the finished home.
  /// - Throws: The reason why they are not available.
  func session() throws(EngineError) -> Session {
    let tools = try tools()
    return Session(program: tools.program, home: try home(keepingIf: \.isIntact))
  }

  /// Runs an operation of gpg that does not use the agent. Its result counts only if the home is intact at its end:
  /// without the keys, gpg would report a good signature as that of a stranger. Otherwise, the operation is run again
  /// once.
  ///
  /// - Parameter operation: The operation.
  /// - Returns: The result of the operation.
  /// - Throws: The error of the operation; `unsafeEngine` when the home is damaged again.
  func withHome<R>(_ operation: (Session) throws(EngineError) -> R) throws(EngineError) -> R {
    for _ in 0..<2 {
      let session = try session()
      do throws(EngineError) {
        let result = try operation(session)
        if session.home.isIntact { return result }
      } catch {
        if session.home.isIntact { throw error }
      }
    }
    throw .unsafeEngine(path: maker.path, reason: "other programs keep changing it")
  }

  /// Prepares the home only. Once the home is made, this starts no process, unless GnuPG could not read all keys.
  ///
  /// - Parameters:
  ///   - isUsable: Returns true if a home that was loaded before can still be used.
  ///   - isCurrent: Returns false for an intact home that has to be made again.
  /// - Returns: The home.
  /// - Throws: The reason why it is not available.
  func home(
    keepingIf isUsable: (EngineHome) -> Bool = \.exists, where isCurrent: (EngineHome) -> Bool = { _ in true }
  ) throws(EngineError) -> EngineHome {
    try state.withLock { state throws(EngineError) in
      if let home = state.home, isUsable(home), isCurrent(home) { return home }
      state.home = nil
      let home = try maker.home(where: isCurrent) { () throws(EngineError) in try tools(&state) }
      state.home = home
      return home
    }
  }

  /// True if gpgconf was asked, and the redirect to the user's agent is correct or was corrected.
  var isAgentConnectionChecked: Bool { state.withLock { $0.isAgentConnectionChecked } }

  /// Records that the redirect is correct.
  func agentConnectionWasChecked() { state.withLock { $0.isAgentConnectionChecked = true } }

  /// The number of times that the connection to the agent could not be repaired, and the last reason.
  var failedRepairs: (count: Int, error: EngineError?) { state.withLock { $0.failedRepairs } }

  /// Records that the connection to the agent could not be repaired.
  func repairFailed(_ error: EngineError) {
    state.withLock { $0.failedRepairs = ($0.failedRepairs.count + 1, error) }
  }

  /// Finds the programs; the first call starts one process.
  ///
  /// - Returns: The tools that run GnuPG.
  /// - Throws: `engineMissing`, `engineTooOld` or `unsafeEngine`.
  func tools() throws(EngineError) -> EngineTools {
    try state.withLock { state throws(EngineError) in try tools(&state) }
  }

  private func tools(_ state: inout State) throws(EngineError) -> EngineTools {
    let counter = counter
    let count: () -> Void = { counter.processStarted() }
    if state.program == nil {
      let found = try EngineProgram.find(searchPath: locations.searchPath)
      let program = try Library.program(
        found.gpg, rememberedIn: locations.runtimeBase, processStarted: count)
      guard EngineProgram.isRecentEnough(program.version) else {
        throw .engineTooOld(version: program.version)
      }
      state.program = program
      state.gpgconf = found.gpgconf
    }
    guard let program = state.program else { throw .engineMissing(detail: locations.searchPath) }
    return EngineTools(
      program: program, gpgconf: Gpgconf(program: state.gpgconf, processStarted: count),
      processStarted: count)
  }
}

/// Counts the operations of an engine.
final class ProcessCounter: Sendable {
  private let decryptions = Atomic(0)
  private let encryptions = Atomic(0)
  private let signatures = Atomic(0)
  private let processes = Atomic(0)

  var statistics: EngineStatistics {
    EngineStatistics(
      decryptions: decryptions.load(ordering: .relaxed), encryptions: encryptions.load(ordering: .relaxed),
      signatures: signatures.load(ordering: .relaxed), processes: processes.load(ordering: .relaxed))
  }

  func processStarted() { processes.add(1, ordering: .relaxed) }

  func decryptionStarted() {
    decryptions.add(1, ordering: .relaxed)
    processStarted()
  }

  func signingStarted() {
    signatures.add(1, ordering: .relaxed)
    processStarted()
  }

  func encryptionStarted() {
    encryptions.add(1, ordering: .relaxed)
    processStarted()
  }
}
