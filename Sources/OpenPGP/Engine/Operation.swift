internal import CGPGME
internal import Secrets

extension Context {
  /// Runs an operation of libgpgme on a stack that is wiped afterwards.
  ///
  /// - Parameter operation: The call, which gets the context.
  /// - Returns: The operation's error code, 0 when it succeeded.
  func run(_ operation: (gpgme_ctx_t) -> gpgme_error_t) -> gpgme_error_t {
    let context = unsafe pointer
    var code: gpgme_error_t = 0
    WipedStack.run { code = unsafe operation(context) }
    return code
  }
}
