internal import CGPGME
internal import Glibc
internal import Secrets

/// A context of libgpgme: one operation at a time, on one thread at a time.
@safe
struct Context: ~Copyable, @unchecked Sendable {
  // Unchecked: libgpgme allows a context to move between threads, and a noncopyable value is on one thread at a time.
  let pointer: gpgme_ctx_t
  /// The gpg that the operations run.
  let program: Library.Program
  /// The GnuPG home; nil for the default of GnuPG.
  let home: String?
  // The passphrase callback gets this as a plain pointer, so it has to exist as long as the context.
  private let passphrase: Passphrase?
  private let cancellation: Cancellation?
  /// The status lines of the operation. The status callback gets this as a plain pointer.
  let report: StatusReport

  /// Opens a context for operations in a GnuPG home. Starts no process.
  ///
  /// - Parameters:
  ///   - program: The gpg to use, and its version.
  ///   - home: The GnuPG home; nil for the default of GnuPG.
  ///   - interaction: The way to ask for a passphrase.
  ///   - cancellation: Ends the passphrase dialog of an operation; nil if it cannot be ended.
  /// - Throws: The error of libgpgme, for example when memory runs out.
  init(
    program: Library.Program, home: String?, interaction: Interaction, cancellation: Cancellation? = nil
  ) throws(EngineError) {
    let context = try unsafe Self.bare()
    // Not gpgme_ctx_set_engine_info(3), which would start `gpg --version`.
    guard let engine = unsafe Library.engine(in: context) else {
      unsafe gpgme_release(context)
      throw .engineMissing(detail: Library.noEngine)
    }
    unsafe Self.replace(&engine.pointee.home_dir, with: home)
    unsafe Self.replace(&engine.pointee.file_name, with: program.path)
    unsafe Self.replace(&engine.pointee.version, with: program.version)
    unsafe pointer = context
    (self.program, self.home) = (program, home)
    passphrase = Passphrase(interaction)
    self.cancellation = cancellation
    report = StatusReport(cancellation)

    // No key servers, no web key directory, no certificate checks: no network access.
    unsafe gpgme_set_offline(context, 1)
    _ = unsafe gpgme_set_ctx_flag(context, "auto-key-locate", "local")
    _ = unsafe gpgme_set_ctx_flag(context, "auto-key-retrieve", "0")
    _ = unsafe gpgme_set_ctx_flag(context, "no-symkey-cache", "1")
    _ = unsafe gpgme_set_ctx_flag(context, "full-status", "1")
    unsafe gpgme_set_status_cb(context, StatusReport.callback, Unmanaged.passUnretained(report).toOpaque())
    switch interaction {
    case .pinentry: break
    case .never: _ = unsafe gpgme_set_pinentry_mode(context, GPGME_PINENTRY_MODE_ERROR)
    case .loopback:
      _ = unsafe gpgme_set_pinentry_mode(context, GPGME_PINENTRY_MODE_LOOPBACK)
      guard let passphrase else { break }
      unsafe gpgme_set_passphrase_cb(
        context, Passphrase.callback, Unmanaged.passUnretained(passphrase).toOpaque())
    }
  }

  deinit {
    cancellation?.whenCancelled(nil)
    // It has ended before the operation, except if gpg was killed.
    report.dialog?.end()
    unsafe gpgme_release(pointer)
  }

  /// Creates a context with libgpgme's defaults. The caller has to release it.
  static func bare() throws(EngineError) -> gpgme_ctx_t {
    Library.start()
    var created: gpgme_ctx_t?
    let code = unsafe gpgme_new(&created)
    guard code == 0, let context = unsafe created else { throw EngineError(code) }
    return unsafe context
  }

  private static func replace(_ member: inout UnsafeMutablePointer<CChar>?, with text: String?) {
    unsafe free(member)
    unsafe member = text.flatMap { unsafe strdup($0) }
  }
}

/// The callback that answers a passphrase request of gpg with the caller's closure.
private final class Passphrase {
  let answer: @Sendable () -> SecretBytes?

  init?(_ interaction: Interaction) {
    guard case .loopback(let answer) = interaction else { return nil }
    self.answer = answer
  }

  static let callback: gpgme_passphrase_cb_t = { hook, _, _, wasBad, descriptor in
    guard let hook = unsafe hook else { return error(GPG_ERR_GENERAL) }
    // The closure would return the same wrong passphrase again.
    if wasBad != 0 { return error(GPG_ERR_BAD_PASSPHRASE) }
    let asker = unsafe Unmanaged<Passphrase>.fromOpaque(hook).takeUnretainedValue()
    guard var secret = asker.answer() else { return error(GPG_ERR_CANCELED) }
    // gpg reads an empty line as "no passphrase", which each operation reports in a different way.
    if secret.isEmpty { return error(GPG_ERR_BAD_PASSPHRASE) }
    secret.append(UInt8(ascii: "\n"))
    let written = unsafe secret.withBytes { bytes in
      unsafe gpgme_io_writen(descriptor, bytes.baseAddress, bytes.count)
    }
    return written == 0 ? 0 : error(GPG_ERR_EIO)
  }

  private static func error(_ code: gpgme_err_code_t) -> gpgme_error_t {
    gpgme_err_make(GPG_ERR_SOURCE_USER_1, code)
  }
}
