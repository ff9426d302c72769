/// The location of an item in a password store, without its content.
package struct PassEntry: Hashable, Sendable {
  /// The folders, starting at the top, and the name of the item without `.gpg`; never empty.
  package let components: [[UInt8]]
  /// The paths of links to this item, without `.gpg`.
  package var aliases: [[UInt8]] = []

  /// The name for `pass show`.
  package var path: [UInt8] { Array(components.joined(separator: [UInt8(ascii: "/")])) }

  /// The source of the item, for reports.
  package var source: ImportSource { .file(path) }
}

/// The contents of a password store.
package struct PassListing: Sendable {
  /// The items, sorted by the bytes of their paths.
  package var entries: [PassEntry] = []
  /// Everything else: links and stray files, without the files of pass, gopass and git.
  package var draft = ImportDraft()
}

/// The reason why a password store, or a file of it, cannot be read.
package enum PassTreeError: Error, Equatable {
  /// A system call failed on this path below the store.
  case failed(path: [UInt8], errno: Int32)
  /// The folders are nested deeper than the limit.
  case tooDeep(path: [UInt8], limit: Int)
  /// There are more files than the limit.
  case tooMany(limit: Int)
  /// The file of an item is larger than an item can be.
  case tooLarge(path: [UInt8], limit: Int)
  /// The file of an item is no longer a regular file.
  case notAFile(path: [UInt8])
}
