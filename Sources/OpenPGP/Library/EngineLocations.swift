public import Secrets

/// The folders and programs of the user and the machine. The caller passes them in: the library does not read the
/// environment.
package struct EngineLocations: Sendable, Equatable {
  /// The user's GnuPG home (`$GNUPGHOME`); nil for GnuPG's default.
  package var userHome: String?
  /// The folder for engine homes, such as `$XDG_RUNTIME_DIR/keytree`. Absolute.
  package var runtimeBase: String
  /// The search path for programs (`$PATH`).
  package var searchPath: String

  /// Creates the locations.
  ///
  /// - Parameters:
  ///   - userHome: The user's GnuPG home; nil for GnuPG's default.
  ///   - runtimeBase: The folder for engine homes, absolute; created if it is missing.
  ///   - searchPath: The value of `$PATH`.
  package init(userHome: String?, runtimeBase: String, searchPath: String) {
    self.userHome = userHome
    self.runtimeBase = runtimeBase
    self.searchPath = searchPath
  }
}

/// The way to ask for a passphrase.
public enum Interaction: Sendable {
  /// The user's agent shows its own dialog.
  case pinentry
  /// No prompt is possible: a locked key is an error at once (`GPGME_PINENTRY_MODE_ERROR`).
  case never
  /// The caller provides the passphrase; nil cancels. For tests, and for programs with their own dialog.
  case loopback(@Sendable () -> SecretBytes?)
}
