internal import CGcrypt

/// The reason why no code could be made from a valid seed. It contains nothing of the seed.
package struct CodeError: Error, Equatable, Sendable {
  /// The message of libgcrypt.
  package let reason: String

  init(_ problem: gcry_error_t) {
    // The text is a constant of the library.
    reason = unsafe gcry_strerror(problem).map { unsafe String(cString: $0) } ?? "error \(problem)"
  }
}
