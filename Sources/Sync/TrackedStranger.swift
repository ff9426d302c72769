/// Something in the history of a store that has no place there: git or another program could act on it (threat T18).
package struct TrackedStranger: Equatable, Sendable {
  /// What it is.
  package enum Kind: Sendable {
    case link
    case repository
    case executable
    case attributes
    case modules
  }

  /// Its path from the top of the work tree; what is not UTF-8 in it is replaced.
  package let path: String
  /// What it is.
  package let kind: Kind
}

extension Repository {
  /// What stands in the index of git within the store and has no place there, sorted by path.
  ///
  /// - Throws: as `Git.run`.
  package func strangers() throws(GitError) -> [TrackedStranger] {
    let records = try git.records(["ls-files", "-z", "--stage", "--"] + (prefix.isEmpty ? [] : [prefix]))
    return records.compactMap { record in
      guard let tab = record.firstIndex(of: UInt8(ascii: "\t")) else { return nil }
      let path = String(decoding: record[(tab + 1)...], as: UTF8.self)
      let mode = String(decoding: record.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
      let name = path.split(separator: "/").last.map { $0.lowercased() }
      let kind: TrackedStranger.Kind? =
        switch (mode, name) {
        case ("120000", _): .link
        case ("160000", _): .repository
        case (_, ".gitmodules"): .modules
        case (_, ".gitattributes") where path != "\(prefix).gitattributes": .attributes
        case ("100755", _): .executable
        default: nil
        }
      return kind.map { TrackedStranger(path: path, kind: $0) }
    }
  }
}
