/// Reads file contents from a repository, many of them with one process.
struct ObjectReader {
  private let git: Git

  /// Creates a reader of a repository.
  ///
  /// - Parameter git: Git in the repository.
  init(git: Git) {
    var git = git
    // A small delta can expand to a large object.
    git.memoryLimit = Git.receivingLimit
    self.git = git
  }

  /// The maximum output of one command, in bytes.
  private static let limit = 1 << 30

  /// The maximum size of a list of object names, in bytes.
  private static let namesLimit = 1 << 28

  /// The options for all commits of any branch or reflog.
  static let everywhere = ["--all", "--reflog"]

  /// The types of objects at paths of commits.
  enum Kind: String {
    case blob, tree
  }

  /// Returns the object names of the contents at some paths of commits.
  ///
  /// - Parameters:
  ///   - places: Places of the form `<commit>:<path>`, without line feeds.
  ///   - kind: The type of the objects: files or folders.
  /// - Returns: The object names by place, without the places where no object of this type exists.
  /// - Throws: The errors of `Git.run`.
  func names(of places: some Collection<String>, kind: Kind = .blob) throws -> [String: String] {
    if places.isEmpty { return [:] }
    let wanted = Array(places)
    let output = try git.query(
      ["cat-file", "--buffer", "--batch-check=%(objectname) %(objecttype)"],
      input: wanted.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }, limit: Self.namesLimit)
    let lines = output.split(separator: UInt8(ascii: "\n"))
    guard lines.count == wanted.count else { throw GitError.unexpectedOutput(command: "cat-file") }
    var names: [String: String] = [:]
    let ending = " \(kind.rawValue)"
    for (place, line) in zip(wanted, lines) where line.suffix(ending.utf8.count).elementsEqual(ending.utf8) {
      names[place] = String(decoding: line.dropLast(ending.utf8.count), as: UTF8.self)
    }
    try confirm(
      absent: zip(wanted, lines).filter { $1.suffix(Self.missing.count).elementsEqual(Self.missing) }.map(\.0)
    )
    return names
  }

  private static let missing = Array(" missing".utf8)

  /// The maximum number of commands with which absent places are confirmed. Many paths in many commits are read only to
  /// search a history, and in one with a damaged object, `git fsck` and `keytree verify` report the damage.
  private static let confirmations = 16

  /// Checks that commits do not have the files that `git cat-file` has reported as missing. It also reports an object that
  /// it cannot open as missing, and a file that does not exist counts as deleted.
  ///
  /// - Throws: `unexpectedOutput` if a commit has such a file; the errors of `Git.run`, also if an object is missing.
  private func confirm(absent places: [String]) throws {
    // A reference may not exist.
    let absent = places.map { $0.split(separator: ":", maxSplits: 1).map(String.init) }
      .filter { $0.count == 2 && Self.isName($0[0]) }
    let commits = Dictionary(grouping: absent) { $0[0] }.mapValues { $0.map { $0[1] } }
    let paths = Dictionary(grouping: absent) { $0[1] }.mapValues { $0.map { $0[0] } }
    guard min(commits.count, paths.count) <= Self.confirmations else { return }
    let isFound =
      commits.count < paths.count
      ? try commits.contains { try hasFile($0.key, at: $0.value) }
      : try paths.contains { try hasFile($0.value, at: $0.key) }
    if isFound { throw GitError.unexpectedOutput(command: "cat-file") }
  }

  /// Returns true if a commit has a file at one of some paths. The files are not opened.
  private func hasFile(_ commit: String, at paths: [String]) throws -> Bool {
    try stride(from: 0, to: paths.count, by: Self.pathsPerCommand).contains { start in
      let piece = paths[start..<min(start + Self.pathsPerCommand, paths.count)]
      return try !git.records(["ls-tree", "-z", "--full-tree", commit, "--"] + piece).isEmpty
    }
  }

  /// Returns true if one of some commits has a file at a path.
  private func hasFile(_ commits: [String], at path: String) throws -> Bool {
    let output = try git.query(
      ["rev-list", "--objects", "--no-walk=unsorted", "--stdin"],
      input: Array((commits + ["--", path, ""]).joined(separator: "\n").utf8), limit: Self.namesLimit)
    // `<name> <path>`; a commit has no path.
    let ending = Array(" \(path)".utf8)
    return output.split(separator: UInt8(ascii: "\n")).contains {
      $0.suffix(ending.count).elementsEqual(ending)
    }
  }

  /// Returns true for the full name of an object.
  private static func isName(_ text: String) -> Bool {
    (text.utf8.count == 40 || text.utf8.count == 64)
      && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  /// Returns the object names of all contents that files have had in a history. A content is returned once, even if
  /// several files had it.
  ///
  /// - Parameters:
  ///   - files: Files, or folders with all files below them, as paths relative to the top of the work tree. The result
  ///     is empty if this is empty.
  ///   - commits: The commits whose histories are searched, as arguments of `git rev-list`.
  /// - Throws: The errors of `Git.run`; a list of more than ten million names is too long.
  func pastNames(of files: some Collection<String>, in commits: [String]) throws -> [String] {
    let paths = Set(files).sorted()
    var names: [String] = []
    var known: Set<String> = []
    for start in stride(from: 0, to: paths.count, by: Self.pathsPerCommand) {
      let piece = paths[start..<min(start + Self.pathsPerCommand, paths.count)]
      let output = try git.query(
        ["rev-list", "--full-history", "--objects", "--filter=object:type=blob"] + commits + ["--"] + piece,
        limit: Self.limit)
      for line in output.split(separator: UInt8(ascii: "\n")) {
        // `<name> <path>` for the contents of files; a commit has no path.
        guard let end = line.firstIndex(of: UInt8(ascii: " ")) else { continue }
        let name = String(decoding: line[..<end], as: UTF8.self)
        if known.insert(name).inserted { names.append(name) }
      }
    }
    return names
  }

  /// The maximum number of paths in a command line, whose length is limited (execve(2)).
  private static let pathsPerCommand = 256

  /// The metadata of a file content.
  struct Info {
    /// The object name.
    let name: String
    /// The size in bytes.
    let size: Int
    /// The size in the repository, in bytes.
    let sizeOnDisk: Int
  }

  /// Returns the metadata of contents without reading them.
  ///
  /// - Parameters:
  ///   - names: Object names, or places of the form `<commit>:<path>`, without line feeds.
  ///   - mayBeMissing: True if objects of these names need not exist, because they can be commits of submodules.
  /// - Returns: The metadata by name, without places that do not exist and objects that are not files.
  /// - Throws: `failed` if an object is missing or cannot be read; the errors of `Git.run`.
  func infos(of names: some Collection<String>, mayBeMissing: Bool = false) throws -> [String: Info] {
    if names.isEmpty { return [:] }
    let wanted = Array(names)
    let output = try git.query(
      ["cat-file", "--buffer", "--batch-check=%(objectname) %(objecttype) %(objectsize) %(objectsize:disk)"],
      input: wanted.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }, limit: Self.limit)
    let lines = output.split(separator: UInt8(ascii: "\n"))
    guard lines.count == wanted.count else { throw GitError.unexpectedOutput(command: "cat-file") }
    var infos: [String: Info] = [:]
    for (name, line) in zip(wanted, lines) {
      // `<name> missing` for a missing object; the name may contain spaces.
      if !mayBeMissing, line.suffix(Self.missing.count).elementsEqual(Self.missing), Self.isName(name) {
        throw GitError.failed(command: "cat-file", status: 0, message: "the object \(name) cannot be read")
      }
      let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
      guard words.count == 4, words[1] == "blob", let size = Int(words[2]), let sizeOnDisk = Int(words[3])
      else { continue }
      infos[name] = Info(name: words[0], size: size, sizeOnDisk: sizeOnDisk)
    }
    return infos
  }

  /// Returns the sizes of contents in bytes, without reading them.
  ///
  /// - Parameter names: As for ``infos(of:)``.
  /// - Returns: The sizes by name.
  /// - Throws: The errors of `Git.run`.
  func sizes(of names: some Collection<String>) throws -> [String: Int] {
    try infos(of: names).mapValues(\.size)
  }

  /// Returns the contents with some names.
  ///
  /// - Parameters:
  ///   - names: Object names, or places of the form `<commit>:<path>`, without line feeds.
  ///   - limit: The maximum size of each content in bytes.
  ///   - freeSize: The total size in bytes that is always accepted, whatever the size in the repository.
  /// - Returns: The bytes by name. Missing names are those that do not exist, are not a file, or exceed the limit.
  /// - Throws: `tooLarge` if the total size is far larger than the size in the repository, and the errors of `Git.run`.
  func contents(
    of names: some Collection<String>, limit: Int, freeSize: Int = freeSize
  ) throws -> [String: [UInt8]] {
    let infos = try infos(of: Set(names)).filter { $0.value.size <= limit }
    try Self.requireProportion(infos.values, freeSize: freeSize)
    var result: [String: [UInt8]] = [:]
    try read(infos) { name, bytes in result[name] = Array(bytes) }
    return result
  }

  /// Calls a closure with the contents of some names. Only a part of them is in memory at a time.
  ///
  /// - Parameters:
  ///   - names: As for ``contents(of:limit:)``.
  ///   - limit: The maximum size of each content in bytes.
  ///   - body: Receives a name and its bytes. Not called for a name that is not a file or exceeds the limit.
  /// - Throws: The errors of `Git.run`.
  func forEachContent(
    of names: some Collection<String>, limit: Int, _ body: (String, ArraySlice<UInt8>) -> Void
  ) throws {
    try read(try infos(of: Set(names)).filter { $0.value.size <= limit }, body)
  }

  /// Calls a closure with the contents whose metadata is known. Only a part of them is in memory at a time.
  ///
  /// - Parameters:
  ///   - infos: The metadata, as ``infos(of:)`` returned it.
  ///   - body: Receives the bytes of a content.
  /// - Throws: The errors of `Git.run`.
  func forEachContent(of infos: [Info], _ body: (ArraySlice<UInt8>) -> Void) throws {
    try read(infos.lazy.map { (key: $0.name, value: $0) }) { _, bytes in body(bytes) }
  }

  /// The total size in bytes that is accepted even if the files take almost no space in the repository.
  static let freeSize = 32 << 20
  /// The limit on the size of files, as a multiple of their size in the repository. Records and keys are compressed to
  /// a third; encrypted files are not compressible.
  private static let proportion = 16

  /// Refuses contents that are far larger than their size in the repository, because a small push could exhaust the
  /// memory of all other users (threat T46).
  ///
  /// - Throws: `tooLarge`.
  static func requireProportion(
    _ infos: some Collection<Info>, freeSize: Int = freeSize
  ) throws {
    let size = infos.reduce(0) { $0 + $1.size }
    let limit = max(freeSize, proportion * infos.reduce(0) { $0 + $1.sizeOnDisk })
    guard size <= limit else { throw SyncError.tooLarge(size: size, limit: limit) }
  }

  /// The total size of the contents that are read with one process, in bytes.
  private static let pieceSize = 16 << 20

  private func read(
    _ infos: some Sequence<(key: String, value: Info)>, _ body: (String, ArraySlice<UInt8>) -> Void
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
    let output = try git.query(
      ["cat-file", "--buffer", "--batch"],
      input: piece.flatMap { Array($0.info.name.utf8) + [UInt8(ascii: "\n")] },
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
