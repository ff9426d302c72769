/// Reads contents out of a repository, many with one process.
struct ObjectReader {
  let git: Git

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
  func names(of places: some Collection<String>) throws(SyncError) -> [String: String] {
    if places.isEmpty { return [:] }
    let wanted = Array(places)
    let output: [UInt8]
    do throws(GitError) {
      output = try git.run(
        ["cat-file", "--batch-check=%(objectname) %(objecttype)"],
        input: wanted.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }, limit: Self.namesLimit)
    } catch {
      throw .git(error)
    }
    let lines = output.split(separator: UInt8(ascii: "\n"))
    guard lines.count == wanted.count else { throw .git(.unexpectedOutput(command: "cat-file")) }
    var names: [String: String] = [:]
    let ending = " blob"
    for (place, line) in zip(wanted, lines) where line.suffix(ending.utf8.count).elementsEqual(ending.utf8) {
      names[place] = String(decoding: line.dropLast(ending.utf8.count), as: UTF8.self)
    }
    return names
  }

  /// The names of the contents that files have had in a history. Git names a content once, whichever of the files had it.
  ///
  /// - Parameters:
  ///   - files: Files, or folders with all files below them, by their paths from the top of the work tree; none for no
  ///     content.
  ///   - commits: The commits whose histories are walked, as `git rev-list` takes them.
  /// - Throws: as `Git.run`; a list of more than ten million names is too long.
  func pastNames(of files: some Collection<String>, in commits: [String]) throws(SyncError) -> [String] {
    if files.isEmpty { return [] }
    let output: [UInt8]
    do throws(GitError) {
      output = try git.run(
        ["rev-list", "--full-history", "--objects", "--filter=object:type=blob"] + commits + ["--"]
          + Set(files).sorted(), limit: Self.limit)
    } catch {
      throw .git(error)
    }
    // `<name> <path>` for the contents of files; a commit has no path.
    return output.split(separator: UInt8(ascii: "\n")).compactMap { line in
      line.firstIndex(of: UInt8(ascii: " ")).map { String(decoding: line[..<$0], as: UTF8.self) }
    }
  }

  /// The sizes of the contents that some names stand for, in bytes, without reading any of them.
  ///
  /// - Parameter names: Names of contents.
  /// - Returns: The sizes by name; a name is not there that stands for nothing, or for what the repository does not
  ///   have, as a clone that fetches contents when they are needed.
  /// - Throws: as `Git.run`.
  func sizes(of names: some Collection<String>) throws(SyncError) -> [String: Int] {
    if names.isEmpty { return [:] }
    let output: [UInt8]
    do throws(GitError) {
      output = try git.run(
        ["cat-file", "--batch-check=%(objectname) %(objectsize)"],
        input: names.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }, limit: Self.limit)
    } catch {
      throw .git(error)
    }
    var sizes: [String: Int] = [:]
    for line in output.split(separator: UInt8(ascii: "\n")) {
      let words = String(decoding: line, as: UTF8.self).split(separator: " ")
      if words.count == 2, let size = Int(words[1]) { sizes[String(words[0])] = size }
    }
    return sizes
  }

  /// The contents that some names stand for.
  ///
  /// - Parameter names: Names of contents, or `<commit>:<path>`; without line feeds.
  /// - Returns: The bytes by name; a name that stands for nothing, or for something else than a file, is not there.
  /// - Throws: as `Git.run`.
  func contents(of names: some Collection<String>) throws(SyncError) -> [String: [UInt8]] {
    var result: [String: [UInt8]] = [:]
    try forEachContent(of: names) { name, bytes in result[name] = Array(bytes) }
    return result
  }

  /// Hands out the contents that some names stand for, without a copy of each.
  ///
  /// - Parameters:
  ///   - names: As for `contents(of:)`.
  ///   - body: Takes a name and its bytes, in the order of the names; not called for one that stands for no file.
  /// - Throws: as `Git.run`.
  func forEachContent(
    of names: some Collection<String>, _ body: (String, ArraySlice<UInt8>) -> Void
  ) throws(SyncError) {
    if names.isEmpty { return }
    let wanted = Array(names)
    let input = wanted.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }
    let output: [UInt8]
    do throws(GitError) {
      output = try git.run(["cat-file", "--batch"], input: input, limit: Self.limit)
    } catch {
      throw .git(error)
    }
    var rest = output[...]
    for name in wanted {
      guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else {
        throw .git(.unexpectedOutput(command: "cat-file"))
      }
      // `<name> <type> <size>`, or `<what was asked for> missing`; what was asked for may have spaces in it.
      let words = rest[..<end].split(separator: UInt8(ascii: " "))
      rest = rest[(end + 1)...]
      if words.last?.elementsEqual("missing".utf8) ?? true { continue }
      guard words.count == 3, let size = Int(String(decoding: words[2], as: UTF8.self)), size < rest.count
      else { throw .git(.unexpectedOutput(command: "cat-file")) }
      if words[1].elementsEqual("blob".utf8) { body(name, rest.prefix(size)) }
      rest = rest.dropFirst(size + 1)
    }
  }
}
