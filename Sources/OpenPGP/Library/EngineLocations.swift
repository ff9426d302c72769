public import Secrets

/// Where the engine finds what belongs to the user and to the machine. Handed in: the library reads no
/// environment.
package struct EngineLocations: Sendable, Equatable {
  /// The user's GnuPG home (`$GNUPGHOME`), or nil for the one that GnuPG uses by itself.
  package var userHome: String?
  /// The folder that engine homes are made in, such as `$XDG_RUNTIME_DIR/keytree`. Absolute.
  package var runtimeBase: String
  /// Where programs are looked for (`$PATH`).
  package var searchPath: String

  /// Names all three places.
  ///
  /// - Parameters:
  ///   - userHome: The user's GnuPG home, or nil for GnuPG's own choice.
  ///   - runtimeBase: The folder for engine homes, absolute; made when it is missing.
  ///   - searchPath: The value of `$PATH`.
  package init(userHome: String?, runtimeBase: String, searchPath: String) {
    self.userHome = userHome
    self.runtimeBase = runtimeBase
    self.searchPath = searchPath
  }
}

/// How a passphrase may be asked for.
public enum Interaction: Sendable {
  /// The user's agent shows its own dialog.
  case pinentry
  /// Nobody can be asked: a locked key is an error at once (`GPGME_PINENTRY_MODE_ERROR`).
  case never
  /// The caller answers. For tests, and for programs with a dialog of their own; nil cancels.
  case loopback(@Sendable () -> SecretBytes?)
}
