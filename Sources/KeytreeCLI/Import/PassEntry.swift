/// An item of a password store: where it is, not what it holds.
package struct PassEntry: Hashable, Sendable {
  /// The folders, from the top, and the name of the item without `.gpg`; never empty.
  package let components: [[UInt8]]
  /// The paths of links to this item, without `.gpg`.
  package var aliases: [[UInt8]] = []

  /// The name that `pass show` takes.
  package var path: [UInt8] { Array(components.joined(separator: [UInt8(ascii: "/")])) }

  /// Where the item was found, for reports.
  package var source: ImportSource { .file(path) }
}

/// What is in a password store.
package struct PassListing: Sendable {
  /// The items, sorted by the bytes of their paths.
  package var entries: [PassEntry] = []
  /// Everything else: links, stray files, and what is there for other purposes.
  package var draft = ImportDraft()
}

/// Why a password store, or a file of it, cannot be read.
package enum PassTreeError: Error, Equatable {
  /// A system call failed on this path below the store.
  case failed(path: [UInt8], errno: Int32)
  /// There are more folders inside each other than are read.
  case tooDeep(path: [UInt8], limit: Int)
  /// There are more files than are read.
  case tooMany(limit: Int)
  /// The file of an item is larger than an item can be.
  case tooLarge(path: [UInt8], limit: Int)
  /// The file of an item is no longer a regular file.
  case notAFile(path: [UInt8])
}
