package import Encoding
package import KeyringModel

/// The path at which a merge keeps a file of another program, if its own path has another content: the name with
/// digits of the file's digest, such as `alice (1f2e3d4c).gpg`. No item has such a path.
package enum SecondPath {
  /// The number of bytes of the digest in the name.
  private static let digestSize = 4
  /// The maximum size of a file name in bytes: `NAME_MAX` of Linux.
  private static let nameLimit = 255

  /// Returns the second path of a file.
  ///
  /// - Parameters:
  ///   - file: The path of an encrypted file in the store.
  ///   - digest: The digest of the content that is kept.
  package static func of(_ file: String, _ digest: ContentDigest) -> String {
    let ending = ending(digest)
    let slash = file.lastIndex(of: "/").map { file.index(after: $0) } ?? file.startIndex
    var name = file[slash...].dropLast(StoreLayout.secretExtension.count)
    while name.utf8.count + ending.utf8.count > nameLimit { name = name.dropLast() }
    return file[..<slash] + name + ending
  }

  /// Returns the item whose file has a second path.
  ///
  /// - Parameters:
  ///   - file: The path of a file in the store.
  ///   - digest: The digest of its content.
  /// - Returns: The path of the item, which may not exist; nil if the path is not that of a second file of an item, or
  ///   if its digits are those of another content.
  package static func item(of file: String, _ digest: ContentDigest) -> ItemPath? {
    first(of: file, digest).flatMap(StoreLayout.itemPath)
  }

  /// Returns true if one of two paths is the second path of the other.
  ///
  /// - Parameters:
  ///   - first: The path of a file in the store.
  ///   - second: The path of a file in the store.
  ///   - digest: The digest of the content of both.
  package static func relates(_ first: String, _ second: String, _ digest: ContentDigest) -> Bool {
    of(first, digest) == second || of(second, digest) == first
  }

  /// Returns the path whose second path is given; nil for any other path. A name that was shortened is not recovered:
  /// the names of items are never that long.
  package static func first(of file: String, _ digest: ContentDigest) -> String? {
    let ending = ending(digest)
    guard file.hasSuffix(ending) else { return nil }
    return file.dropLast(ending.count) + StoreLayout.secretExtension
  }

  private static func ending(_ digest: ContentDigest) -> String {
    " (\(Hexadecimal.text(digest.bytes.prefix(digestSize))))\(StoreLayout.secretExtension)"
  }
}
