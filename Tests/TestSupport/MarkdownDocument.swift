package import Foundation

/// A document of the repository, as the tests read it.
package struct MarkdownDocument {
  /// The documents that this target checks.
  package static let names = ["README.md", "CHANGELOG.md"] + articles
  package static let articles = [
    "Keyring", "GettingStarted", "StoreFormat", "Queries", "Merging", "Sync", "ThreatModel", "TypedPasswords",
    "YourIOSCodeOnLinux", "SecItemParity", "TestHosts", "Servers", "Teams", "Rotation", "Verifying",
    "Importing",
    "Programs", "Browsers", "DesktopKeyring", "OnThePhone",
    "Commands", "CommandReference", "Packaging", "Development",
    "ShareAStore", "ContinuousIntegration", "SwiftProgram", "ExitCodes", "Protocols", "Benchmarks",
  ]
  .map { "Sources/Keyring/Keyring.docc/\($0).md" }
  package static let format = articles[2]
  /// The files that compile and run the Swift in the documents.
  package static let code = [
    "Tests/KeyringTests/DocumentedCode.swift", "Tests/KeychainPasswordsTests/DocumentedPasswords.swift",
    "Tests/KeychainServicesTests/DocumentedSearch.swift",
  ]

  /// The root of the repository.
  package static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private let path: String
  package private(set) var lines: [String]

  package init(_ path: String) throws {
    self.path = path
    let data = try Data(contentsOf: Self.root.appendingPathComponent(path))
    lines = String(decoding: data, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  /// Returns the code block below the comment `example: NAME` without its final line feed, or nil if there is none.
  package func example(_ name: String) -> String? {
    guard let mark = lines.firstIndex(of: "<!-- example: \(name) -->"),
      lines.dropFirst(mark + 1).first?.hasPrefix("```") == true
    else { return nil }
    return lines[(mark + 2)...].prefix { $0 != "```" }.joined(separator: "\n")
  }

  /// Replaces the code block below the comment `example: NAME`.
  package mutating func setExample(_ name: String, _ text: String) throws {
    guard let mark = lines.firstIndex(of: "<!-- example: \(name) -->"),
      let end = lines.dropFirst(mark + 2).firstIndex(of: "```")
    else { throw CocoaError(.fileReadCorruptFile) }
    lines.replaceSubrange((mark + 2)..<end, with: text.components(separatedBy: "\n"))
  }

  /// Writes the document to its file.
  package func write() throws {
    let text = lines.joined(separator: "\n")
    try Data(text.utf8).write(to: Self.root.appendingPathComponent(path))
  }

  /// Returns the code blocks in a language, each as lines.
  package func blocks(_ language: String) -> [[String]] {
    lines.indices.filter { lines[$0] == "```\(language)" }
      .map { Array(lines[($0 + 1)...].prefix { $0 != "```" }) }
  }

  /// The files of a package that the document shows: the code blocks below the comment `file: PATH`.
  package var files: [(path: String, lines: [String])] {
    lines.indices.compactMap { index in
      guard let match = lines[index].wholeMatch(of: /<!-- file: (.+) -->/) else { return nil }
      return (String(match.output.1), Array(lines.dropFirst(index + 2).prefix { $0 != "```" }))
    }
  }

  /// Returns the code blocks in a language that are not files of a package.
  package func snippets(_ language: String) -> [[String]] {
    let files = files.map(\.lines)
    return blocks(language).filter { !files.contains($0) }
  }

  /// Returns the rows of the first table with these column heads. Cells have no surrounding space and no backquotes.
  package func table(_ heads: String...) -> [[String]] {
    guard let head = lines.firstIndex(of: "| " + heads.joined(separator: " | ") + " |") else { return [] }
    return lines[(head + 2)...].prefix { $0.hasPrefix("|") }.map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: [" "]).replacing("`", with: "") }
    }
  }
}
