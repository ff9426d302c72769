internal import FileSystem
internal import Glibc

/// The programs of GnuPG that may be used: found on the search path, and changeable by nobody but their
/// owner (us) or root.
struct EngineProgram: Sendable, Equatable {
  /// The absolute path of gpg.
  var gpg: String
  /// The absolute path of gpgconf, from the folder of gpg where it has one.
  var gpgconf: String

  /// The oldest gpg whose status output cannot be garbled by a signature (CVE-2022-34903).
  static let minimumVersion = [2, 2, 36]

  /// Walks the search path as libgpgme does: the first entry with an executable wins.
  ///
  /// - Parameter searchPath: The value of `$PATH`.
  /// - Returns: The programs, with absolute paths.
  /// - Throws: `engineMissing`; `unsafeEngine` when the entry that wins is relative, or others can write to
  ///   the program or to a folder above it.
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

  /// Compares a version with the oldest accepted one.
  ///
  /// - Parameter version: As gpg tells it, such as `2.2.40` or `2.4.8-beta3`.
  /// - Returns: Whether it is new enough; false when it cannot be read.
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
