internal import Subprocess

extension Git {
  /// Returns a setting of any configuration file; nil if it is not set.
  ///
  /// - Throws: The errors of `run`.
  package func setting(_ key: String) throws -> String? {
    let arguments = ["config", "--get", "-z", key]
    let outcome = try outcome(of: arguments)
    switch outcome.ending {
    case .exited(status: 0): return String(decoding: outcome.output.prefix { $0 != 0 }, as: UTF8.self)
    case .exited(status: 1): return nil
    default: throw failure(arguments, outcome)
    }
  }

  /// Returns true if a text can be the name of a reference (git-check-ref-format(1)).
  ///
  /// - Throws: The errors of `run`.
  package func isReference(_ name: String) throws -> Bool {
    let arguments = ["check-ref-format", name]
    let outcome = try outcome(of: arguments)
    switch outcome.ending {
    case .exited(status: 0): return true
    case .exited(status: 1): return false
    default: throw failure(arguments, outcome)
    }
  }

  /// Returns the full name of the commit that a name refers to; nil if there is none.
  ///
  /// - Throws: The errors of `run`.
  package func commit(_ name: String) throws -> String? {
    let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", "\(name)^{commit}"]
    let outcome = try outcome(of: arguments)
    switch outcome.ending {
    case .exited(status: 0):
      return String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").first.map(String.init)
    // With `--quiet`, any other status means that git could not read the repository, not that the commit does not exist.
    case .exited(status: 1): return nil
    default: throw failure(arguments, outcome)
    }
  }

  /// Returns true if two commits are the same or the first one is an ancestor of the second one.
  ///
  /// - Throws: The errors of `run`.
  package func isAncestor(_ old: String, of new: String) throws -> Bool {
    if old == new { return true }
    let arguments = ["merge-base", "--is-ancestor", old, new]
    let outcome = try outcome(of: arguments)
    switch outcome.ending {
    case .exited(status: 0): return true
    case .exited(status: 1): return false
    default: throw failure(arguments, outcome)
    }
  }

  /// Returns the commits in some histories that changed a file, compared with one of their parents at least.
  ///
  /// - Parameters:
  ///   - path: The file's path, relative to the top of the work tree.
  ///   - commits: The commits whose histories are searched.
  /// - Throws: The errors of `run`.
  package func commits(changing path: String, in commits: [String]) throws -> [String] {
    let output = try query(
      ["rev-list", "--full-history"] + commits + ["--", path], limit: 1 << 28)
    return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Returns the commits of the checked-out branch that follow a commit.
  ///
  /// - Parameter commit: The commit.
  /// - Throws: The errors of `run`.
  package func descendants(of commit: String) throws -> Set<String> {
    let output = try query(["rev-list", "--ancestry-path", "\(commit)..HEAD"], limit: 1 << 28)
    return Set(String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init))
  }

  /// Returns the merge bases of two commits; none if they have no common ancestor.
  ///
  /// - Throws: The errors of `run`.
  package func mergeBases(_ left: String, _ right: String) throws -> [String] {
    let arguments = ["merge-base", "--all", left, right]
    let outcome = try outcome(of: arguments)
    switch outcome.ending {
    case .exited(status: 0):
      return String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").map(String.init)
    case .exited(status: 1): return []
    default: throw failure(arguments, outcome)
    }
  }

  /// Returns the number of ancestors of a commit that are not ancestors of another one.
  ///
  /// - Throws: The errors of `run`.
  package func count(from old: String, to new: String) throws -> Int {
    let text = String(decoding: try run(["rev-list", "--count", "\(old)..\(new)", "--"]), as: UTF8.self)
    guard let count = Int(text.split(separator: "\n").first ?? "") else {
      throw GitError.unexpectedOutput(command: "rev-list")
    }
    return count
  }
}
