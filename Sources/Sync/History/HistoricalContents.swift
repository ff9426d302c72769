internal import Keyring

/// The contents that the files of a store have ever had, on any branch and in what reflogs still know; each once.
///
/// Their paths say nothing: git names a content once, and a file of any name may have the same content as an item.
struct HistoricalContents {
  /// Contents that are read with one process.
  struct Piece: Sendable {
    var names: [String] = []
    var size = 0
  }

  /// The number of contents with a size that no file of the store has.
  private(set) var skipped = 0
  /// The number of contents that the repository does not have.
  private(set) var missing = 0
  private(set) var pieces: [Piece] = []

  /// The most bytes and the most contents of a piece: what is held in memory at once, for each processor.
  private static let pieceSize = 16 << 20
  private static let pieceCount = 4096

  /// Lists the contents of folders; the history is walked once, and no content is read.
  ///
  /// - Parameters:
  ///   - folders: Folders of the store.
  ///   - limit: The most bytes of a content.
  ///   - repository: The repository of the store.
  /// - Throws: as `Git.run`.
  init(below folders: [String], limit: Int, in repository: Repository) throws {
    let objects = ObjectReader(git: repository.git)
    let names = try objects.pastNames(
      of: folders.map { repository.prefix + $0 }, in: ObjectReader.everywhere)
    let sizes = try objects.sizes(of: names)
    for name in names {
      guard let size = sizes[name] else {
        missing += 1
        continue
      }
      if size > limit {
        skipped += 1
        continue
      }
      let last = pieces.last
      if last.map({ $0.size + size > Self.pieceSize || $0.names.count == Self.pieceCount }) ?? true {
        pieces.append(Piece())
      }
      pieces[pieces.count - 1].names.append(name)
      pieces[pieces.count - 1].size += size
    }
  }
}
