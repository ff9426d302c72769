internal import FileSystem
internal import Glibc

/// The GnuPG programs to use: found on the search path, and writable only by their owner, who must be this user or
/// root.
struct EngineProgram: Sendable, Equatable {
  /// The absolute path of gpg.
  var gpg: String
  /// The absolute path of gpgconf, from the folder of gpg if it is there.
  var gpgconf: String

  /// The oldest accepted version. In older ones a signature can corrupt the status output (CVE-2022-34903).
  static let minimumVersion = [2, 2, 36]

  /// Searches the path as libgpgme does: the first executable is used.
  ///
  /// - Parameter searchPath: The value of `$PATH`.
  /// - Returns: The programs, with absolute paths.
  /// - Throws: `engineMissing`; `unsafeEngine` when the path entry of the program is relative, or when others can
  ///   write to the program or to a folder above it.
  static func find(searchPath: String) throws(EngineError) -> EngineProgram {
    guard let gpg = try find("gpg", searchPath: searchPath) else {
      throw .engineMissing(detail: "gpg is not in \(searchPath)")
    }
    let beside = gpg.dropLast("gpg".utf8.count) + "gpgconf"
    if unsafe access(String(beside), X_OK) == 0 {
      try check(String(beside))
      return EngineProgram(gpg: gpg, gpgconf: String(beside))
    }
    guard let gpgconf = try find("gpgconf", searchPath: searchPath) else {
      throw .engineMissing(detail: "gpgconf is not in \(searchPath)")
    }
    return EngineProgram(gpg: gpg, gpgconf: gpgconf)
  }

  /// Returns true if a version is recent enough.
  ///
  /// - Parameter version: The version as gpg prints it, such as `2.2.40` or `2.4.8-beta3`.
  /// - Returns: True if it is not older than the minimum; false if it cannot be parsed.
  static func isRecentEnough(_ version: String) -> Bool {
    var numbers: [Int] = []
    for part in version.split(separator: ".", omittingEmptySubsequences: false).prefix(3) {
      guard let number = Int(part.prefix { $0 >= "0" && $0 <= "9" }) else { return false }
      numbers.append(number)
    }
    guard numbers.count == minimumVersion.count else { return false }
    return !numbers.lexicographicallyPrecedes(minimumVersion)
  }

  private static func find(_ name: String, searchPath: String) throws(EngineError) -> String? {
    for folder in searchPath.split(separator: ":", omittingEmptySubsequences: false) {
      let path = folder.isEmpty ? name : folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
      guard unsafe access(path, X_OK) == 0 else { continue }
      guard path.hasPrefix("/") else {
        throw .unsafeEngine(path: path, reason: "the search path has a relative entry")
      }
      try check(path)
      return path
    }
    return nil
  }

  private static func check(_ path: String) throws(EngineError) {
    if let weakness = FileProtection.weakness(ofProgram: path) { throw EngineError(weakness) }
  }
}
