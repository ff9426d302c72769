internal import Keyring

/// The contents that the files of a store have ever had, on any branch or reflog, each listed once.
///
/// Their paths are not used: git lists each content with only one path, and a file with any name can have the same
/// content as an item.
struct HistoricalContents {
  /// The contents that are read with one process.
  struct Piece: Sendable {
    var contents: [ObjectReader.Info] = []
    var size = 0
  }

  /// The number of contents that are too large for a file of the store.
  private(set) var skipped = 0
  /// The number of contents that are missing in the repository.
  private(set) var missing = 0
  private(set) var pieces: [Piece] = []

  /// The maximum size in bytes and the maximum number of contents of a piece. Each processor keeps one piece in memory.
  private static let pieceSize = 16 << 20
  private static let pieceCount = 4096

  /// Lists the contents of folders. The history is searched once, and no content is read.
  ///
  /// - Parameters:
  ///   - folders: Folders of the store.
  ///   - limit: The maximum size of a content in bytes.
  ///   - repository: The repository of the store.
  /// - Throws: The errors of `Git.run`.
  init(below folders: [String], limit: Int, in repository: Repository) throws {
    let objects = ObjectReader(git: repository.git)
    let names = try objects.pastNames(
      of: folders.map { repository.prefix + $0 }, in: ObjectReader.everywhere)
    let infos = try objects.infos(of: names)
    for name in names {
      guard let info = infos[name] else {
        missing += 1
        continue
      }
      let size = info.size
      if size > limit {
        skipped += 1
        continue
      }
      let last = pieces.last
      if last.map({ $0.size + size > Self.pieceSize || $0.contents.count == Self.pieceCount }) ?? true {
        pieces.append(Piece())
      }
      pieces[pieces.count - 1].contents.append(info)
      pieces[pieces.count - 1].size += size
    }
  }
}
