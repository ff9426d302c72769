internal import Glibc
internal import Secrets
package import Terminal

/// The reason why the user's settings cannot be read or written.
package enum ConfigurationError: Error, Equatable {
  /// The content of the file cannot be used.
  case unusable(path: String, Configuration.Problem)
  /// Neither `XDG_CONFIG_HOME` nor `HOME` is set to an absolute path.
  case noFolder
}

/// The file with the user's settings.
package struct ConfigurationFile {
  /// The path of the file; nil if `HOME` is not set.
  package let path: String?

  /// Finds the file of a user.
  package init(_ environment: Environment) {
    path = environment.configurationHome.map { $0 + "/keytree/config.json" }
  }

  /// Reads the settings. Without the file, there are none.
  ///
  /// - Parameter isChecked: false to accept any values, so that one of them can be corrected.
  /// - Throws: `UserFileError`, also if another user can write to the file, because it names programs;
  ///   `ConfigurationError`.
  package func read(isChecked: Bool = true) throws -> Configuration {
    guard let path, let content = try UserFile.readOwn(path, limit: Configuration.limit) else {
      return Configuration()
    }
    do {
      return try Configuration(
        parsing: unsafe content.withBytes { unsafe Array($0) }, isChecked: isChecked)
    } catch {
      throw ConfigurationError.unusable(path: path, error)
    }
  }

  /// Writes the settings.
  ///
  /// - Throws: `UserFileError`; `noFolder`.
  package func write(_ configuration: Configuration) throws {
    guard let path else { throw ConfigurationError.noFolder }
    try UserFile.replaceOwn(path, configuration.bytes)
  }
}
