internal import Encoding

/// The files that differ between two trees, for trees that name too many files for git.
///
/// A tree of a kilobyte can name millions of files, because each of its folders can be the same tree again (threat T46).
/// Git lists every path. This list contains every tree once, and more often only up to a limit. So its length is limited
/// by the size of the trees.
struct TreeWalk {
  /// The entries that differ.
  private(set) var entries: [(path: [UInt8], entry: TreeDifference.Entry)] = []
  /// The new or changed folders that are not listed, because their trees occur too often.
  private(set) var skipped: [[UInt8]] = []

  /// An entry of a tree.
  private struct Node: Equatable {
    /// The mode as `git diff-tree` prints it.
    let mode: String
    let name: String

    var isTree: Bool { mode == "040000" }
  }

  /// A folder that differs.
  private struct Folder {
    /// The path with `/` at its end; empty for the top.
    let path: [UInt8]
    let old: String?
    let new: String?
  }

  /// The number of entries that are listed of trees that were listed before.
  static let repeatedLimit = 1_024
  /// The limit on the size of all trees in bytes, which are in memory at the same time.
  private static let sizeLimit = 1 << 28

  /// Compares two trees.
  ///
  /// - Parameters:
  ///   - old: A commit or a tree.
  ///   - new: A commit or a tree.
  ///   - git: Git in the repository.
  /// - Throws: The errors of `Git.run`.
  init(from old: String, to new: String, in git: Git) throws {
    var trees = Trees(git: git)
    let tops = try trees.names(of: [old, new])
    var level = [Folder(path: [], old: tops[0], new: tops[1])]
    var seen: Set<[String?]> = []
    var repeated = 0
    while !level.isEmpty {
      try trees.read(Set(level.flatMap { [$0.old, $0.new].compactMap { $0 } }))
      var next: [Folder] = []
      for folder in level {
        let (before, after) = (trees.entries(of: folder.old), trees.entries(of: folder.new))
        if !seen.insert([folder.old, folder.new]).inserted {
          repeated += before.count + after.count
          guard repeated <= Self.repeatedLimit else {
            if folder.new != nil { skipped.append(folder.path.dropLast()) }
            continue
          }
        }
        compare(before, after, at: folder.path, &next)
      }
      level = next
    }
  }

  /// Lists the entries of a folder that differ.
  private mutating func compare(
    _ before: [[UInt8]: Node], _ after: [[UInt8]: Node], at path: [UInt8], _ next: inout [Folder]
  ) {
    for name in Set(before.keys).union(after.keys) {
      let (old, new) = (before[name], after[name])
      if old == new { continue }
      let place = path + name
      let trees = [old, new].map { node in node.flatMap { $0.isTree ? $0.name : nil } }
      if trees[0] != nil || trees[1] != nil {
        next.append(Folder(path: place + [UInt8(ascii: "/")], old: trees[0], new: trees[1]))
      }
      let (oldFile, newFile) = (old.flatMap { $0.isTree ? nil : $0 }, new.flatMap { $0.isTree ? nil : $0 })
      guard oldFile != nil || newFile != nil else { continue }
      let entry = TreeDifference.Entry(
        oldMode: oldFile?.mode ?? TreeDifference.noMode, mode: newFile?.mode ?? TreeDifference.noMode,
        oldName: oldFile?.name ?? String(repeating: "0", count: newFile?.name.utf8.count ?? 0),
        name: newFile?.name)
      entries.append((place, entry))
    }
  }

  /// The trees of a repository, each of which is read once.
  private struct Trees {
    private let git: Git
    private var known: [String: [[UInt8]: Node]] = [:]
    private var size = 0

    init(git: Git) {
      var git = git
      git.memoryLimit = Git.receivingLimit
      self.git = git
    }

    func entries(of tree: String?) -> [[UInt8]: Node] { tree.flatMap { known[$0] } ?? [:] }

    /// Returns the object names of the trees of commits.
    func names(of commits: [String]) throws -> [String] {
      let output = try git.run(
        ["cat-file", "--batch-check=%(objectname)"],
        input: commits.flatMap { Array("\($0)^{tree}\n".utf8) })
      let lines = output.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
      // `<name> missing` for a missing object.
      guard lines.count == commits.count, !lines.contains(where: { $0.contains(" ") }) else {
        throw TreeWalk.unexpected
      }
      return lines
    }

    /// Reads trees.
    mutating func read(_ names: Set<String>) throws {
      let wanted = names.filter { known[$0] == nil }.sorted()
      if wanted.isEmpty { return }
      let output: [UInt8] = try git.run(
        ["cat-file", "--buffer", "--batch"], input: wanted.flatMap { Array("\($0)\n".utf8) },
        limit: TreeWalk.sizeLimit - size)
      size += output.count
      var rest = output[...]
      for name in wanted {
        // `<name> tree <size>`, the bytes, and a line feed.
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { throw TreeWalk.unexpected }
        let words = String(decoding: rest[..<end], as: UTF8.self).split(separator: " ")
        rest = rest[(end + 1)...]
        guard words.count == 3, words[0] == name, words[1] == "tree", let size = Int(words[2]),
          rest.count > size
        else { throw TreeWalk.unexpected }
        known[name] = try Self.parse(rest.prefix(size), nameLength: name.utf8.count / 2)
        rest = rest.dropFirst(size + 1)
      }
    }

    /// Returns the entries of a tree, each of which is `<mode> <path>`, NUL and the object name in binary form.
    private static func parse(_ bytes: ArraySlice<UInt8>, nameLength: Int) throws -> [[UInt8]: Node] {
      var entries: [[UInt8]: Node] = [:]
      var rest = bytes
      while !rest.isEmpty {
        guard let space = rest.firstIndex(of: UInt8(ascii: " ")), let end = rest[space...].firstIndex(of: 0),
          let mode = UInt32(String(decoding: rest[..<space], as: UTF8.self), radix: 8),
          rest.distance(from: end, to: rest.endIndex) > nameLength
        else { throw TreeWalk.unexpected }
        let name = rest[(end + 1)...].prefix(nameLength)
        entries[Array(rest[(space + 1)..<end])] = Node(
          mode: canonical(mode), name: Hexadecimal.text(name))
        rest = rest[name.endIndex...]
      }
      return entries
    }

    /// Returns the mode that git uses for the mode of an entry (`canon_mode` in git).
    private static func canonical(_ mode: UInt32) -> String {
      switch mode & 0o170000 {
      case 0o100000: mode & 0o100 == 0 ? "100644" : "100755"
      case 0o120000: "120000"
      case 0o040000: "040000"
      default: "160000"
      }
    }
  }

  private static let unexpected = GitError.unexpectedOutput(command: "cat-file")
}
