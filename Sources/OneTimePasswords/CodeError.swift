internal import CGcrypt

/// Why no code could be made from a seed that is one. Nothing of the seed is in it.
package struct CodeError: Error, Equatable, Sendable {
  /// What libgcrypt says, in its own words.
  package let reason: String

  init(_ problem: gcry_error_t) {
    // The text is a constant of the library.
    reason = unsafe gcry_strerror(problem).map { unsafe String(cString: $0) } ?? "error \(problem)"
  }
}
