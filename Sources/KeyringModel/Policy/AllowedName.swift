internal import Encoding

/// The rules for the names of files that a policy allows beside a store.
///
/// A name is the path of a file from the top of the store, such as `README.md` or `.github/workflows/verify.yml`. A
/// name that ends with `/` allows all files below a folder.
package enum AllowedName {
  /// The maximum size of a name, in bytes.
  package static let maximumSize = 1000

  /// The maximum number of names in a policy.
  package static let maximumCount = 1000

  /// Returns true if a policy can allow a name.
  ///
  /// Names of the store itself cannot be allowed: the store decides which files are there.
  ///
  /// - Parameter name: A proposed name, case-sensitive.
  package static func isValid(_ name: String) -> Bool {
    name.utf8.count <= maximumSize && isSafePath(name.hasSuffix("/") ? String(name.dropLast()) : name)
      && !StoreName.isReserved(name)
  }

  /// Returns true if git and other programs treat every component of a path as a plain file or folder, on any
  /// file system (threat T20), and no other sequence of bytes is the same name for Swift.
  ///
  /// - Parameter path: A relative path with `/` between its components.
  package static func isSafePath(_ path: String) -> Bool {
    guard path.isUnambiguousName else { return false }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard let last = parts.last.map(folded), parts.allSatisfy({ isSafe($0) }) else { return false }
    // Git may treat a folder with a file `HEAD` as a repository. In a subfolder, git would use that folder's
    // `.gitattributes` instead of the store's.
    return last != "head" && (parts.count == 1 || last != ".gitattributes")
  }

  /// The maximum size of a component, in bytes: `NAME_MAX` of Linux.
  private static let maximumComponentSize = 255

  private static func isSafe(_ name: Substring) -> Bool {
    guard !name.isEmpty, name.utf8.count <= maximumComponentSize, name != ".", name != "..",
      name.unicodeScalars.allSatisfy({ isPlain($0) })
    else { return false }
    // `git~1` is the short name that Windows gives to `.git`.
    return ![".git", "git~1", ".gitmodules"].contains(folded(name))
  }

  /// Returns the component as a case-insensitive file system compares it, without the trailing dots and spaces and the
  /// stream name that Windows ignores.
  static func folded(_ name: Substring) -> String {
    var name = name.prefix { $0 != ":" }
    while name.last == "." || name.last == " " { name = name.dropLast() }
    return name.lowercased()
  }

  /// Returns true if a scalar is visible and not a separator. macOS ignores some format characters in names.
  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    if scalar == "\\" { return false }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: return false
    default: return true
    }
  }
}
