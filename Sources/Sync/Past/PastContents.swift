internal import Keyring

/// The contents that the files of a store have ever had, on any branch and in what reflogs still know; each once.
struct PastContents {
  /// Contents that are read with one process.
  struct Piece: Sendable {
    var names: [String] = []
    var size = 0
  }

  /// How many have a size that no file of the store has.
  private(set) var skipped = 0
  /// How many the repository does not have.
  private(set) var missing = 0
  private(set) var pieces: [Piece] = []

  /// The most bytes and the most contents of a piece: what is held in memory at once, for each processor.
  private static let pieceSize = 16 << 20
  private static let pieceCount = 4096
  /// The most bytes of a list of contents: about ten million.
  private static let listLimit = 1 << 30

  /// Lists the contents of a folder; the history is walked once, and none of them is read.
  ///
  /// - Parameters:
  ///   - folder: A folder of the store.
  ///   - limit: The most bytes of a content.
  ///   - repository: The repository of the store.
  /// - Throws: as `Git.run`.
  init(below folder: String, limit: Int, in repository: Repository) throws(SyncError) {
    let names = try Self.names(below: repository.prefix + folder, repository.git)
    let sizes = try ObjectReader(git: repository.git).sizes(of: names)
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

  private static func names(below folder: String, _ git: Git) throws(SyncError) -> [String] {
    let output: [UInt8]
    do throws(GitError) {
      output = try git.run(
        ["rev-list", "--all", "--reflog", "--full-history", "--objects", "--", folder], limit: listLimit)
    } catch {
      throw .git(error)
    }
    // `<name> <path>` for what is in commits; a commit has no path, and folders are listed as well.
    let start = Array("\(folder)/".utf8)
    let endings = [Array(".gpg".utf8), Array(".jsonl".utf8)]
    return output.split(separator: UInt8(ascii: "\n")).compactMap { line in
      guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return nil }
      let path = line[(space + 1)...]
      guard path.starts(with: start), endings.contains(where: { path.suffix($0.count).elementsEqual($0) })
      else { return nil }
      return String(decoding: line[..<space], as: UTF8.self)
    }
  }
}
