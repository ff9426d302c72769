package import Keyring
internal import KeyringModel
internal import Sync
internal import Terminal

/// A file that another program has added or changed, with the facts about its origin.
package struct ForeignFileEntry {
  /// The file.
  package let file: ForeignFile
  /// The author of the commit with the file, as git has it; nil if the file is not committed. Nobody has verified it.
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
    let change = file.replacesItemFile ? "changed" : "a change of \(item.reference.text)"
    return "\(name): \(change) on \(time.day), record of \(item.secretModified.day), \(origin)"
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
  /// - Throws: The errors of `Keyring.foreignFiles()`. An error of git is not one: the file then has no author.
  package func foreignFiles(in keyring: Keyring) throws -> [ForeignFileEntry] {
    let files = try keyring.foreignFiles()
    // The command that needs git reports why it cannot be used; a list is useful without it.
    let repository = files.isEmpty ? nil : try? self.repository()
    return files.enumerated().map { number, file in
      let commit = number < Self.lookupLimit ? try? repository?.commit(of: file, in: keyring) : nil
      return ForeignFileEntry(
        file: file, author: commit.map { "\($0.author) <\($0.mail)>" }, time: commit?.time ?? file.modified)
    }
  }

  /// Returns the findings of a check in which changes by other programs are named, with the times of their commits.
  package func namingChanges(in findings: [Finding], _ keyring: Keyring) throws -> [Finding] {
    guard findings.contains(where: { $0.kind == .damaged(.notAsRecorded) }) else { return findings }
    let found = try foreignFiles(in: keyring)
    let times = Dictionary(found.map { ($0.file.path, $0) }) { first, _ in first }
    return findings.map { finding in
      guard finding.kind == .damaged(.notAsRecorded), let entry = times[finding.path],
        let item = entry.file.item
      else { return finding }
      return Finding(
        finding.path, .changed(recorded: item.secretModified, found: entry.time), commit: finding.commit)
    }
  }
}
