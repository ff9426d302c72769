/// Reads contents out of a repository, many with one process.
struct ObjectReader {
  private let git: Git

  /// A reader of a repository.
  ///
  /// - Parameter git: Git in the repository.
  init(git: Git) {
    var git = git
    // A small difference can make a large content of another one.
    git.memoryLimit = Git.receivingLimit
    self.git = git
  }

  /// The most bytes that are read at once.
  private static let limit = 1 << 30

  /// The most bytes of the answers to a question about names.
  private static let namesLimit = 1 << 28

  /// All commits, on any branch and in what reflogs still know.
  static let everywhere = ["--all", "--reflog"]

  /// The names of the contents that stand in some places.
  ///
  /// - Parameter places: `<commit>:<path>` each; without line feeds.
  /// - Returns: The names by place; a place that has nothing, or something else than a file, is not there.
  /// - Throws: as `Git.run`.
  func names(of places: some Collection<String>) throws -> [String: String] {
    if places.isEmpty { return [:] }
    let wanted = Array(places)
    let output: [UInt8] = try git.run(
      ["cat-file", "--batch-check=%(objectname) %(objecttype)"],
      input: wanted.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }, limit: Self.namesLimit)
    let lines = output.split(separator: UInt8(ascii: "\n"))
    guard lines.count == wanted.count else { throw GitError.unexpectedOutput(command: "cat-file") }
    var names: [String: String] = [:]
    let ending = " blob"
    for (place, line) in zip(wanted, lines) where line.suffix(ending.utf8.count).elementsEqual(ending.utf8) {
      names[place] = String(decoding: line.dropLast(ending.utf8.count), as: UTF8.self)
    }
    return names
  }

  /// The names of the contents that files have had in a history. Git names a content once, whichever of the files
  /// had it.
  ///
  /// - Parameters:
  ///   - files: Files, or folders with all files below them, by their paths from the top of the work tree; none for no
  ///     content.
  ///   - commits: The commits whose histories are walked, as `git rev-list` takes them.
  /// - Throws: as `Git.run`; a list of more than ten million names is too long.
  func pastNames(of files: some Collection<String>, in commits: [String]) throws -> [String] {
    if files.isEmpty { return [] }
    let output: [UInt8] = try git.run(
      ["rev-list", "--full-history", "--objects", "--filter=object:type=blob"] + commits + ["--"]
        + Set(files).sorted(), limit: Self.limit)
    // `<name> <path>` for the contents of files; a commit has no path.
    return output.split(separator: UInt8(ascii: "\n")).compactMap { line in
      line.firstIndex(of: UInt8(ascii: " ")).map { String(decoding: line[..<$0], as: UTF8.self) }
    }
  }

  /// The facts about an object that are known without reading it.
  struct Info {
    /// The name of the content.
    let name: String
    /// Its size in bytes.
    let size: Int
    /// The size in the repository, in bytes.
    let sizeOnDisk: Int
  }

  /// Asks for the sizes of contents.
  ///
  /// - Parameter names: Names of contents, or `<commit>:<path>`; without line feeds.
  /// - Returns: What is known by name; a name is not there that stands for nothing, for something else than a file,
  ///   or for
  ///   what the repository does not have, as a clone that fetches contents when they are needed.
  /// - Throws: As `Git.run`.
  func infos(of names: some Collection<String>) throws -> [String: Info] {
    if names.isEmpty { return [:] }
    let wanted = Array(names)
    let output: [UInt8] = try git.run(
      ["cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize) %(objectsize:disk)"],
      input: wanted.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }, limit: Self.limit)
    let lines = output.split(separator: UInt8(ascii: "\n"))
    guard lines.count == wanted.count else { throw GitError.unexpectedOutput(command: "cat-file") }
    var infos: [String: Info] = [:]
    for (name, line) in zip(wanted, lines) {
      // `<what was asked for> missing`; what was asked for may have spaces in it.
      let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
      guard words.count == 4, words[1] == "blob", let size = Int(words[2]), let sizeOnDisk = Int(words[3])
      else { continue }
      infos[name] = Info(name: words[0], size: size, sizeOnDisk: sizeOnDisk)
    }
    return infos
  }

  /// The sizes of the contents that some names stand for, in bytes, without reading any of them.
  ///
  /// - Parameter names: As for ``infos(of:)``.
  /// - Returns: The sizes by name.
  /// - Throws: As `Git.run`.
  func sizes(of names: some Collection<String>) throws -> [String: Int] {
    try infos(of: names).mapValues(\.size)
  }

  /// The contents that some names stand for.
  ///
  /// - Parameters:
  ///   - names: Names of contents, or `<commit>:<path>`; without line feeds.
  ///   - limit: The most bytes of each.
  ///   - freeSize: The most bytes of all together, whatever they take in the repository.
  /// - Returns: The bytes by name; a name that stands for nothing, for something else than a file, or for a larger
  ///   file is
  ///   not there.
  /// - Throws: `tooLarge` when all of them together are far larger than what they take in the repository; as `Git.run`.
  func contents(
    of names: some Collection<String>, limit: Int, freeSize: Int = freeSize
  ) throws -> [String: [UInt8]] {
    let infos = try infos(of: Set(names)).filter { $0.value.size <= limit }
    try Self.requireProportion(infos.values, freeSize: freeSize)
    var result: [String: [UInt8]] = [:]
    try read(infos) { name, bytes in result[name] = Array(bytes) }
    return result
  }

  /// Hands out the contents that some names stand for, some of them at a time.
  ///
  /// - Parameters:
  ///   - names: As for ``contents(of:limit:)``.
  ///   - limit: The most bytes of each.
  ///   - body: Takes a name and its bytes; not called for one that stands for no file, or for a larger one.
  /// - Throws: As `Git.run`.
  func forEachContent(
    of names: some Collection<String>, limit: Int, _ body: (String, ArraySlice<UInt8>) -> Void
  ) throws {
    try read(try infos(of: Set(names)).filter { $0.value.size <= limit }, body)
  }

  /// The most bytes that are read from files which take almost nothing in the repository.
  static let freeSize = 32 << 20
  /// The limit for the size of files, as a multiple of their size in the repository. Records and keys shrink
  /// to a third; encrypted files do not shrink.
  private static let proportion = 16

  /// Refuses contents that are far larger than what they take in the repository: a small push could fill the memory of
  /// everybody else (threat T46).
  ///
  /// - Throws: `tooLarge`.
  static func requireProportion(
    _ infos: some Collection<Info>, freeSize: Int = freeSize
  ) throws {
    let size = infos.reduce(0) { $0 + $1.size }
    let limit = max(freeSize, proportion * infos.reduce(0) { $0 + $1.sizeOnDisk })
    guard size <= limit else { throw SyncError.tooLarge(size: size, limit: limit) }
  }

  /// The most bytes of the contents that one process is asked for.
  private static let pieceSize = 16 << 20

  private func read(
    _ infos: [String: Info], _ body: (String, ArraySlice<UInt8>) -> Void
  ) throws {
    var piece: [(name: String, info: Info)] = []
    var size = 0
    for (name, info) in infos {
      if size + info.size > Self.pieceSize {
        try readPiece(piece, body)
        (piece, size) = ([], 0)
      }
      piece.append((name, info))
      size += info.size
    }
    try readPiece(piece, body)
  }

  private func readPiece(
    _ piece: [(name: String, info: Info)], _ body: (String, ArraySlice<UInt8>) -> Void
  ) throws {
    if piece.isEmpty { return }
    let output: [UInt8] = try git.run(
      ["cat-file", "--batch"], input: piece.flatMap { Array($0.info.name.utf8) + [UInt8(ascii: "\n")] },
      limit: Self.limit)
    var rest = output[...]
    for (name, info) in piece {
      // `<name> blob <size>`, the bytes, and a line feed.
      guard let end = rest.firstIndex(of: UInt8(ascii: "\n")),
        rest.distance(from: end, to: rest.endIndex) > info.size + 1,
        rest[..<end].elementsEqual("\(info.name) blob \(info.size)".utf8)
      else { throw GitError.unexpectedOutput(command: "cat-file") }
      rest = rest[(end + 1)...]
      body(name, rest.prefix(info.size))
      rest = rest.dropFirst(info.size + 1)
    }
  }
}
