internal import CGPGME
internal import Glibc
internal import Synchronization

/// libgpgme's own state, of which there is one in a process, whatever we do.
enum Library {
  /// A gpg, and its version.
  struct Program: Sendable {
    var path: String
    var version: String
  }

  private static let versions = Mutex<[String: String]>([:])

  /// Initialises libgpgme when that has not happened yet, and tells the version of a gpg.
  ///
  /// libgpgme would look for a gpg in `$PATH` by itself and run it to learn its version, in every process. It is
  /// kept from that: the gpg that was found and checked is the only one that ever runs (threat T35), and its
  /// version is asked for once.
  ///
  /// - Parameters:
  ///   - path: The gpg to use, absolute and checked.
  ///   - folder: Where its version is remembered for other processes; nil for nowhere.
  ///   - processStarted: Called for each process started: one at most.
  /// - Returns: That gpg.
  /// - Throws: `engineMissing` when it does not tell its version.
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

  /// Initialises libgpgme; starts nothing. Has to come before the first context.
  static func start() { _ = isStarted }

  private static let isStarted: Bool = {
    // "OpenPGP only": spares the probes of gpgconf and gpgsm. Both flags have to come first.
    _ = unsafe gpgme_set_global_flag("disable-gpgconf", "1")
    // A name that no program has, so that nothing from `$PATH` is run.
    _ = unsafe gpgme_set_global_flag("gpg-name", "keytree names its gpg itself")
    return unsafe gpgme_check_version(nil) != nil
  }()

  private static func ask(_ path: String, processStarted: () -> Void) throws(EngineError) -> String {
    let context = try unsafe Context.bare()
    defer { unsafe gpgme_release(context) }
    guard let engine = unsafe engine(GPGME_PROTOCOL_OpenPGP, in: context) else {
      throw .engineMissing(detail: noEngine)
    }
    processStarted()
    let code = unsafe gpgme_ctx_set_engine_info(context, GPGME_PROTOCOL_OpenPGP, path, nil)
    guard code == 0, let version = unsafe engine.pointee.version, unsafe version[0] != 0 else {
      throw .engineMissing(detail: "\(path) does not tell its version")
    }
    let text = unsafe String(cString: version)
    // What libgpgme puts there when the program did not answer.
    guard text != "1.0.0" else { throw .engineMissing(detail: "\(path) does not tell its version") }
    return text
  }

  static let noEngine = "libgpgme has no place for an engine"

  /// The description of an engine in a context, made when it is missing.
  ///
  /// The struct and its members are public; this copy belongs to the context, which frees it as a whole, and
  /// reads it at the first operation (gpgme manual, "Engine Information").
  ///
  /// - Parameters:
  ///   - protocol: What the engine speaks.
  ///   - context: A new context.
  /// - Returns: The description, or nil when there is no list to add it to, or no memory.
  static func engine(_ protocol: gpgme_protocol_t, in context: gpgme_ctx_t) -> gpgme_engine_info_t? {
    guard var info = unsafe gpgme_ctx_get_engine_info(context) else { return nil }
    while true {
      if unsafe info.pointee.protocol == `protocol` { return unsafe info }
      guard let next = unsafe info.pointee.next else { break }
      unsafe info = next
    }
    guard let memory = unsafe calloc(1, MemoryLayout<_gpgme_engine_info>.size) else { return nil }
    let engine = unsafe memory.bindMemory(to: _gpgme_engine_info.self, capacity: 1)
    unsafe engine.pointee.protocol = `protocol`
    // libgpgme asserts that there is a name before it takes another one.
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
  /// Translates an error code whose meaning does not depend on the operation.
  ///
  /// - Parameter code: What a function of libgpgme returned; not 0.
  init(_ code: gpgme_error_t) {
    switch gpgme_err_code(code) {
    case GPG_ERR_CANCELED, GPG_ERR_FULLY_CANCELED: self = .cancelled
    case GPG_ERR_NO_PIN_ENTRY: self = .noPromptPossible
    // What a pinentry without a terminal says, in cron for example.
    case GPG_ERR_ENOTTY where gpgme_err_source(code) == GPG_ERR_SOURCE_PINENTRY,
      GPG_ERR_ENXIO where gpgme_err_source(code) == GPG_ERR_SOURCE_PINENTRY:
      self = .noPromptPossible
    case GPG_ERR_BAD_PASSPHRASE: self = .badPassphrase
    default:
      var text = [CChar](repeating: 0, count: 256)
      // A longer text is cut, which is all right for a message.
      _ = unsafe gpgme_strerror_r(code, &text, text.count)
      let source = unsafe gpgme_strsource(code).map { unsafe String(cString: $0) } ?? ""
      let end = text.firstIndex(of: 0) ?? text.endIndex
      self = .other(
        code: Int(gpgme_err_code(code).rawValue), source: source,
        text: String(decoding: text[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
  }
}
