/// The versions of the library and the program that do all cryptography.
package struct EngineVersions: Equatable, Sendable {
  /// The version of libgpgme.
  package let gpgme: String
  /// The version of the gpg that is used; nil if there is none that can be used.
  package let gnupg: String?

  /// Finds the versions. Starts gpg once, and no agent.
  ///
  /// - Parameter searchPath: The value of `$PATH`.
  package init(searchPath: String) {
    gpgme = Library.version
    // `doctor` explains why a gpg cannot be used.
    let found = try? EngineProgram.find(searchPath: searchPath)
    let program = found.flatMap { try? Library.program($0.gpg, rememberedIn: nil) {} }
    gnupg = program?.version
  }
}
