internal import CGPGME
internal import Glibc
internal import Synchronization

/// The global state of libgpgme, which is shared by the whole process.
enum Library {
  /// A gpg program and its version.
  struct Program: Sendable {
    var path: String
    var version: String
  }

  private static let versions = Mutex<[String: String]>([:])

  /// Initializes libgpgme if necessary, and returns a gpg with its version.
  ///
  /// By default libgpgme searches for gpg in `$PATH` and runs it to get its version, in every process. This is
  /// prevented: only the gpg that was found and checked ever runs (threat T35), and its version is requested once.
  ///
  /// - Parameters:
  ///   - path: The gpg to use, absolute and checked.
  ///   - folder: The folder that caches its version for other processes; nil for none.
  ///   - processStarted: Called for each process that is started; at most once.
  /// - Returns: The program.
  /// - Throws: `engineMissing` when it does not report its version.
  static func program(
    _ path: String, rememberedIn folder: String?, processStarted: () -> Void
  ) throws(EngineError) -> Program {
    start()
    return try versions.withLock { versions throws(EngineError) in
      if let version = versions[path] { return Program(path: path, version: version) }
      let version: String
      if let folder, let known = VersionFile.version(of: path, in: folder) {
        version = known
      } else {
        version = try ask(path, processStarted: processStarted)
        if let folder { VersionFile.remember(version, of: path, in: folder) }
      }
      versions[path] = version
      return Program(path: path, version: version)
    }
  }

  /// Initializes libgpgme. Starts no process. Must be called before the first context is created.
  static func start() { _ = isStarted }

  private static let isStarted: Bool = {
    // "OpenPGP only", which avoids calls of gpgconf and gpgsm. Both flags must be set first.
    _ = unsafe gpgme_set_global_flag("disable-gpgconf", "1")
    // No program has this name, so nothing from `$PATH` is run.
    _ = unsafe gpgme_set_global_flag("gpg-name", "keytree names its gpg itself")
    return unsafe gpgme_check_version(nil) != nil
  }()

  private static func ask(_ path: String, processStarted: () -> Void) throws(EngineError) -> String {
    let context = try unsafe Context.bare()
    defer { unsafe gpgme_release(context) }
    guard let engine = unsafe engine(in: context) else {
      throw .engineMissing(detail: noEngine)
    }
    processStarted()
    let code = unsafe gpgme_ctx_set_engine_info(context, GPGME_PROTOCOL_OpenPGP, path, nil)
    guard code == 0, let version = unsafe engine.pointee.version, unsafe version[0] != 0 else {
      throw .engineMissing(detail: "\(path) does not report its version")
    }
    let text = unsafe String(cString: version)
    // libgpgme sets this version if the program does not answer.
    guard text != "1.0.0" else { throw .engineMissing(detail: "\(path) does not report its version") }
    return text
  }

  static let noEngine = "libgpgme has no list of engines"

  /// Returns the description of the OpenPGP engine in a context, and adds it if it is missing.
  ///
  /// The struct and its members are public. This copy belongs to the context, which frees it as a whole, and reads it
  /// at the first operation (gpgme manual, "Engine Information").
  ///
  /// - Parameter context: A new context.
  /// - Returns: The description; nil if the context has no list to add it to, or memory runs out.
  static func engine(in context: gpgme_ctx_t) -> gpgme_engine_info_t? {
    guard var info = unsafe gpgme_ctx_get_engine_info(context) else { return nil }
    while true {
      if unsafe info.pointee.protocol == GPGME_PROTOCOL_OpenPGP { return unsafe info }
      guard let next = unsafe info.pointee.next else { break }
      unsafe info = next
    }
    guard let memory = unsafe calloc(1, MemoryLayout<_gpgme_engine_info>.size) else { return nil }
    let engine = unsafe memory.bindMemory(to: _gpgme_engine_info.self, capacity: 1)
    unsafe engine.pointee.protocol = GPGME_PROTOCOL_OpenPGP
    // libgpgme asserts that a name is set before it replaces it.
    unsafe engine.pointee.file_name = strdup("gpg")
    unsafe info.pointee.next = engine
    return unsafe engine
  }

  /// The version of libgpgme itself.
  static var version: String {
    start()
    guard let text = unsafe gpgme_check_version(nil) else { return "" }
    return unsafe String(cString: text)
  }
}

extension EngineError {
  /// Creates an error from an error code whose meaning does not depend on the operation.
  ///
  /// - Parameter code: The result of a libgpgme function; not 0.
  init(_ code: gpgme_error_t) {
    switch gpgme_err_code(code) {
    case GPG_ERR_CANCELED, GPG_ERR_FULLY_CANCELED: self = .cancelled
    case GPG_ERR_NO_PIN_ENTRY: self = .noPromptPossible
    // A pinentry without a terminal reports this, for example in cron.
    case GPG_ERR_ENOTTY where gpgme_err_source(code) == GPG_ERR_SOURCE_PINENTRY,
      GPG_ERR_ENXIO where gpgme_err_source(code) == GPG_ERR_SOURCE_PINENTRY:
      self = .noPromptPossible
    case GPG_ERR_BAD_PASSPHRASE: self = .badPassphrase
    // The agent reports this for each command and option that its restricted socket does not allow.
    case GPG_ERR_FORBIDDEN where gpgme_err_source(code) == GPG_ERR_SOURCE_GPGAGENT: self = .restrictedAgent
    default:
      var text = [CChar](repeating: 0, count: 256)
      // A longer text is truncated, which is acceptable for a message.
      _ = unsafe gpgme_strerror_r(code, &text, text.count)
      let source = unsafe gpgme_strsource(code).map { unsafe String(cString: $0) } ?? ""
      let end = text.firstIndex(of: 0) ?? text.endIndex
      self = .other(
        code: Int(gpgme_err_code(code).rawValue), source: source,
        text: String(decoding: text[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
  }
}
