internal import CSystem
package import Encoding
internal import Glibc
package import KeyringModel
internal import Synchronization

/// OpenPGP by libgpgme, in a private GnuPG home that redirects to the user's agent.
///
/// Any number of threads may use one engine at once; each call has a libgpgme context of its own. Nothing is
/// started before the first call that needs it.
package final class Engine: SealingEngine {
  let maker: EngineHomeMaker
  let interaction: Interaction
  let locations: EngineLocations
  private let keyringID: String
  /// Whether messages are decrypted that other programs have made, which do not name their recipients inside.
  let acceptsForeignMessages: Bool
  let wanted: [Fingerprint]
  /// What this engine, and those that ``with(keys:)`` makes of it, have done.
  let counter: ProcessCounter
  /// What the agent calls the keys of people, as far as that was asked for.
  let keygrips = Mutex<[Fingerprint: [Keygrip]]>([:])
  /// The key objects of those who sign, as far as they had to be named.
  let signerKeys = Mutex<[Fingerprint: SignerKey]>([:])
  /// How often somebody has signed.
  let signings = Atomic(0)
  private let state = Mutex(State())
  /// Held by the thread that looks after the way to the agent.
  let mending = Mutex<Void>(())

  private struct State {
    var program: Library.Program?
    var gpgconf = ""
    var home: EngineHome?
    var wayIsKnownToBeGood = false
    var timesMended = 0
  }

  /// The largest message that is looked at: the largest secret, what GnuPG adds, and room to spare.
  package static let messageLimit = 2 << 20

  /// Describes an engine; cheap, no file is touched and no process started.
  ///
  /// - Parameters:
  ///   - locations: Where things are on this machine.
  ///   - keyringID: The keyring; each has an engine home of its own.
  ///   - keys: The people's key files by primary fingerprint. Keys in them with another fingerprint are not
  ///     used.
  ///   - interaction: How a passphrase may be asked for.
  ///   - acceptsForeignMessages: Whether messages are decrypted that other programs have made.
  package convenience init(
    locations: EngineLocations, keyringID: String, keys: [Fingerprint: [UInt8]], interaction: Interaction,
    acceptsForeignMessages: Bool = false
  ) {
    self.init(locations, keyringID, keys, interaction, acceptsForeignMessages, ProcessCounter())
  }

  private init(
    _ locations: EngineLocations, _ keyringID: String, _ keys: [Fingerprint: [UInt8]],
    _ interaction: Interaction, _ acceptsForeignMessages: Bool, _ counter: ProcessCounter
  ) {
    self.acceptsForeignMessages = acceptsForeignMessages
    self.locations = locations
    self.keyringID = keyringID
    self.interaction = interaction
    self.counter = counter
    wanted = keys.keys.sorted()
    maker = EngineHomeMaker(locations: locations, keyringID: keyringID, keys: keys)
  }

  package var statistics: EngineStatistics { counter.statistics }

  package func warmUp() {
    // The thread holds the engine, so that it is there when the work is done.
    let engine = unsafe Unmanaged.passRetained(self)
    let problem = unsafe keytree_in_background(
      { context in
        guard let context = unsafe context else { return nil }
        // What goes wrong here goes wrong again in the first real call, and is reported there.
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

  package func expectedRecipients(_ people: [Fingerprint]) throws(EngineError) -> Set<KeyID> {
    Set(try home().table.encryptionKeys(of: people, at: Self.now))
  }

  package func owners(of id: KeyID) throws(EngineError) -> [Fingerprint] { try home().table.owners(of: id) }

  package func publicKeys() throws(EngineError) -> [PublicKey] {
    try home().table.keys.values.sorted { $0.fingerprint < $1.fingerprint }
  }

  package func with(keys: [Fingerprint: [UInt8]]) -> any SealingEngine {
    Engine(locations, keyringID, keys, interaction, acceptsForeignMessages, counter)
  }

  /// The clock that gpg goes by.
  static var now: Timestamp { Timestamp(seconds: time(nil)) }

  // MARK: What a call needs

  /// A gpg that may be used, and a home for it.
  struct Session {
    var program: Library.Program
    var home: EngineHome
  }

  /// Prepares everything for an operation of gpg.
  ///
  /// - Returns: The program, checked, and the home, finished.
  /// - Throws: Why there is none.
  func session() throws(EngineError) -> Session {
    let tools = try tools()
    return Session(program: tools.program, home: try home())
  }

  /// Prepares the home alone: once it is made, this starts no process.
  ///
  /// - Returns: The home.
  /// - Throws: Why there is none.
  func home() throws(EngineError) -> EngineHome {
    try state.withLock { state throws(EngineError) in
      if let home = state.home, home.exists { return home }
      state.home = nil
      let home = try maker.home { () throws(EngineError) in try tools(&state) }
      state.home = home
      return home
    }
  }

  /// Whether everything on the way to the user's agent was found to be as it should be, by asking gpgconf.
  var wayIsKnownToBeGood: Bool { state.withLock { $0.wayIsKnownToBeGood } }

  /// How often the way to the agent was mended, by any thread.
  var timesMended: Int { state.withLock { $0.timesMended } }

  /// Notes that there was nothing to mend.
  func wayWasFoundGood() { state.withLock { $0.wayIsKnownToBeGood = true } }

  /// Notes that the way to the agent was mended, so that it has to be looked at again.
  func wayWasMended() {
    state.withLock { state in
      state.wayIsKnownToBeGood = false
      state.timesMended += 1
    }
  }

  /// Makes the next call load the home again, because its stamp was changed.
  func forgetHome() { state.withLock { $0.home = nil } }

  /// Finds the programs; the first call starts one process.
  ///
  /// - Returns: What runs GnuPG.
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

/// Counts what an engine does.
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
