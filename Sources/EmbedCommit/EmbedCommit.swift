import Foundation
import PackagePlugin

/// Writes the commit of the checkout into a source file of the target, for `keytree version --json`.
///
/// It reads git's files and starts no git, so it works in every build, and also without git. The environment variable
/// `KEYTREE_COMMIT` replaces the commit, for a build from an archive without a repository.
@main
struct EmbedCommit: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let folder = context.pluginWorkDirectoryURL
    let file = folder.appending(path: "EmbeddedCommit.swift")
    let given = ProcessInfo.processInfo.environment["KEYTREE_COMMIT"]
    let commit = given ?? Checkout(context.package.directoryURL).commit ?? ""
    // Only what git writes as a commit, with a suffix such as `-changed`, so that it needs no quotation.
    let isCommit = commit.wholeMatch(of: /[0-9a-f]{40}([0-9a-f]{24})?(-[a-z]+)?/) != nil
    if let given, !given.isEmpty, !isCommit {
      Diagnostics.error("KEYTREE_COMMIT is not a full commit (with a suffix such as -changed): \(given)")
    }
    let text = """
      /// The commit that the program was built from; nil if it was not built from a repository.
      let embeddedCommit: String? = \(isCommit ? "\"\(commit)\"" : "nil")

      """
    // An unchanged file is not written again, so that nothing is compiled again.
    if (try? String(contentsOf: file, encoding: .utf8)) != text {
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    // A prebuild command makes the build system look for the file. The command itself has nothing to do.
    return [
      .prebuildCommand(
        displayName: "Embed the commit", executable: URL(filePath: "/bin/sh"), arguments: ["-c", ":"],
        outputFilesDirectory: folder)
    ]
  }
}

/// A folder with a git repository (gitrepository-layout(5)).
struct Checkout {
  private let root: URL

  init(_ root: URL) { self.root = root }

  /// The commit that is checked out; nil without a repository or a commit.
  var commit: String? {
    guard let repository, let head = text(of: "HEAD", in: repository) else { return nil }
    let mark = "ref: "
    guard head.hasPrefix(mark) else { return head }
    let name = String(head.dropFirst(mark.count))
    let common = common(of: repository)
    return text(of: name, in: repository) ?? text(of: name, in: common) ?? packed(name, in: common)
  }

  /// The folder with the repository. In a linked work tree or a submodule, `.git` is a file that names it.
  private var repository: URL? {
    let place = root.appending(path: ".git")
    guard let link = text(of: ".git", in: root) else { return place }
    let mark = "gitdir: "
    guard link.hasPrefix(mark) else { return nil }
    return URL(filePath: String(link.dropFirst(mark.count)), relativeTo: root)
  }

  /// The folder with the references that all work trees share.
  private func common(of repository: URL) -> URL {
    guard let path = text(of: "commondir", in: repository) else { return repository }
    return URL(filePath: path, directoryHint: .isDirectory, relativeTo: repository.appending(path: ""))
      .absoluteURL
  }

  private func packed(_ name: String, in common: URL) -> String? {
    text(of: "packed-refs", in: common)?.split(separator: "\n").first { $0.hasSuffix(" " + name) }
      .map { String($0.prefix { $0 != " " }) }
  }

  /// Returns the text of a file without white space at its ends; nil if it cannot be read.
  private func text(of path: String, in folder: URL) -> String? {
    let content = try? String(contentsOf: folder.appending(path: path), encoding: .utf8)
    return content?.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
