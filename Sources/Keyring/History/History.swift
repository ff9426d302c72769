internal import Encoding
internal import Git
internal import KeyringModel
internal import Subprocess

/// The files of a store in the last commit.
package struct History {
  /// The hash function of the repository.
  package let hash: GitHash
  /// True if the branch has no commit.
  package let isUnborn: Bool
  /// The object names of file contents by path in the store, without links and submodules.
  package let files: [String: String]

  /// True if the store is not in the history yet.
  package var isNew: Bool { isUnborn || !hasPolicy }
  private let hasPolicy: Bool

  /// Reads the last commit.
  ///
  /// - Parameters:
  ///   - repository: The repository.
  ///   - paths: The files of the store to read; nil for all.
  /// - Throws: The errors of `Git.run`.
  init(of repository: Repository, paths: Set<String>?) throws {
    let git = repository.git
    hash = try repository.hash()
    let question = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]
    let head = try git.outcome(of: question)
    switch head.ending {
    case .exited(status: 0): isUnborn = false
    case .exited(status: 1):
      (isUnborn, files, hasPolicy) = (true, [:], false)
      return
    default: throw git.failure(question, head)
    }
    files = try Self.files(of: "HEAD", in: repository, paths: paths)
    hasPolicy = files[StoreLayout.policy] != nil
  }

  /// Returns the object names of file contents in a commit by path in the store.
  ///
  /// - Parameters:
  ///   - commit: The commit.
  ///   - repository: The repository.
  ///   - paths: The files of the store to list, besides the policy; nil for all. Others may be listed as well.
  /// - Throws: The errors of `Git.run`.
  static func files(
    of commit: String, in repository: Repository, paths: Set<String>?
  ) throws -> [String: String] {
    // A long list of paths could exceed the maximum length of a command line.
    let isShort = (paths?.count ?? .max) <= 500
    let wanted =
      isShort ? (paths ?? []).map { repository.prefix + $0 } : StoreFiles.roots(below: repository.prefix)
    let policy = repository.prefix + StoreLayout.policy
    let records = try repository.git.records(
      ["ls-tree", "-r", "-z", "--full-tree", commit, "--"] + wanted.sorted() + (isShort ? [policy] : []))
    var found: [String: String] = [:]
    for record in records {
      // `<mode> <type> <name>`, a tab, and the path.
      guard let tab = record.firstIndex(of: UInt8(ascii: "\t")) else {
        throw GitError.unexpectedOutput(command: "ls-tree")
      }
      let words = record[..<tab].split(separator: UInt8(ascii: " "))
      let isFile = words.count == 3 && words[0].starts(with: "100".utf8)
      guard isFile, let path = String(validating: record[(tab + 1)...], as: UTF8.self),
        path.isUnambiguousName, path.hasPrefix(repository.prefix)
      else { continue }
      found[String(path.dropFirst(repository.prefix.count))] = String(decoding: words[2], as: UTF8.self)
    }
    return found
  }
}
