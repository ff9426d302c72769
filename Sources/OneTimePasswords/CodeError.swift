internal import CGcrypt

/// The reason why no code could be generated from a valid seed. It contains no part of the seed.
package struct CodeError: Error, Equatable, Sendable {
  /// The message of libgcrypt.
  package let reason: String

  init(_ problem: gcry_error_t) {
    // The text is a static constant of libgcrypt.
    reason = unsafe gcry_strerror(problem).map { unsafe String(cString: $0) } ?? "error \(problem)"
  }
}
