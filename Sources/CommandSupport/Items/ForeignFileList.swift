package import Keyring
internal import KeyringModel
internal import Sync
internal import Terminal

/// A file that another program has added or changed, with the facts about its origin.
package struct ForeignFileEntry {
  /// The file.
  package let file: ForeignFile
  /// The author of the commit with the file, as git has it; nil if the file is not committed. It is not verified.
  package let author: String?
  /// The time of that commit or, if there is none, of the file.
  package let time: Timestamp

  /// The origin, for people.
  private var origin: String {
    author.map { "committed by \(ErrorReport.quoteCompact($0)), not verified" } ?? "not committed"
  }

  /// The path in quotation marks, for people. Not escaped.
  package var name: String { ErrorReport.quoteCompact(file.path) }

  /// The file as one line, for people. Not escaped.
  package var line: String {
    guard let item = file.item else { return "\(name): added on \(time.day), \(origin)" }
    let change = file.replacesItemFile ? "changed" : "a change of \(item.reference.spokenName)"
    let recorded = item.secretModified
    return
      "\(name): \(change) on \(time.day(besides: recorded)), record of \(recorded.day(besides: time)), \(origin)"
  }

  /// The members of the JSON object.
  package var members: [JSONMember] {
    let item = file.item
    return [
      JSONMember("author", author.map { .string($0) } ?? .null),
      JSONMember("path", .string(file.path)),
      JSONMember("recorded", item.map { .string($0.secretModified.rfc3339) } ?? .null),
      JSONMember("reference", item.map { .string($0.reference.text) } ?? .null),
      JSONMember("state", .string(item == nil ? "added" : "changed")),
      JSONMember("time", .string(time.rfc3339)),
    ]
  }
}

extension CommandCall {
  /// The number of files whose commits are looked up; each takes a process.
  private static let lookupLimit = 100

  /// Returns the files that other programs have added or changed, with the facts about their origin.
  ///
  /// - Parameters:
  ///   - keyring: The store.
  ///   - shown: The number of files whose origin is shown; nil for all.
  ///   - isQuick: True to read only the files that have changed since the last call, as far as the file system shows.
  /// - Throws: The errors of `Keyring.foreignFiles()`. An error of git is not one: the file then has no author.
  package func foreignFiles(
    in keyring: Keyring, shown: Int? = nil, isQuick: Bool = false
  ) throws -> [ForeignFileEntry] {
    let files = try isQuick ? keyring.recentForeignFiles() : keyring.foreignFiles()
    // The command that needs git reports why it cannot be used; a list is useful without it.
    let repository = files.isEmpty ? nil : try? self.repository()
    let limit = min(shown ?? Self.lookupLimit, Self.lookupLimit)
    return files.enumerated().map { number, file in
      let commit = number < limit ? try? repository?.commit(of: file, in: keyring) : nil
      return ForeignFileEntry(
        file: file, author: commit.map { "\($0.author) <\($0.mail)>" }, time: commit?.time ?? file.modified)
    }
  }

  /// Returns the findings of a check in which changes by other programs are named, with the times of their commits.
  package func namingChanges(in findings: [Finding], _ keyring: Keyring) throws -> [Finding] {
    // As for ``foreignFiles(in:shown:)``: without git, the time is that of the file.
    let repository = try? self.repository()
    return try keyring.namingChanges(in: findings) { file in
      (try? repository?.commit(of: file, in: keyring))?.time ?? file.modified
    }
  }
}
