package import Encoding

/// The parents of a merge and the branch that it updates. Git refuses the merge if the branch has moved.
package struct MergedCommits: Sendable {
  /// The full name of the branch.
  package let branch: String
  /// The commit that is merged into.
  package let ours: String
  /// The commit that is merged.
  package let theirs: String

  /// Creates the parents of a merge.
  package init(branch: String, ours: String, theirs: String) {
    (self.branch, self.ours, self.theirs) = (branch, ours, theirs)
  }
}

/// The files that one commit changes, with their new content.
package struct CommitContent: Sendable {
  /// The new content of a file.
  package enum File: Sendable {
    /// The bytes of the file.
    case bytes([UInt8])
    /// The object name of content that the repository already has.
    case name(String)
    /// The file is removed.
    case removed
  }

  /// The git command that imports a stream.
  ///
  /// By default the command stores each file as a delta against its predecessor in the stream, which is an unrelated
  /// file, and `git gc` keeps existing deltas. With depth 0 it stores no deltas, and `git gc` searches for good ones.
  package static let importCommand = ["fast-import", "--quiet", "--done", "--depth=0"]

  /// The new content by path, relative to the top of the work tree.
  package var files: [String: File] = [:]
  /// The git modes of the files that are not plain files.
  package var modes: [String: String] = [:]

  /// Creates the content of a commit that changes no files.
  package init() {}

  var isEmpty: Bool { files.isEmpty }

  /// The total size of the file contents in bytes.
  var size: Int {
    files.values.reduce(0) { if case .bytes(let bytes) = $1 { $0 + bytes.count } else { $0 } }
  }

  /// Returns the commit as input for `git fast-import`.
  ///
  /// - Parameters:
  ///   - message: The commit message.
  ///   - committer: Name, mail address and time in git's format.
  ///   - isFirst: True if the branch has no commit yet.
  ///   - sides: The parents of a merge; nil for a commit whose parent is the current one.
  package func stream(
    message: String, committer: String, isFirst: Bool, merging sides: MergedCommits? = nil
  ) -> [UInt8] {
    var stream: [UInt8] = []
    stream.reserveCapacity(size + 256 * files.count)
    // With `feature done`, a truncated stream is detected and has no effect.
    stream += "feature done\ncommit \(sides?.branch ?? "HEAD")\ncommitter \(committer)\n".utf8
    stream += "data \(message.utf8.count)\n\(message)\n".utf8
    if !isFirst { stream += "from \(sides?.ours ?? "HEAD^0")\n".utf8 }
    if let sides { stream += "merge \(sides.theirs)\n".utf8 }
    for (path, file) in files.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      switch file {
      case .bytes(let bytes):
        stream += "M 100644 inline \(Self.quoted(path))\ndata \(bytes.count)\n".utf8
        stream += bytes
        stream.append(UInt8(ascii: "\n"))
      case .name(let name):
        stream += "M \(modes[path] ?? "100644") \(name) \(Self.quoted(path))\n".utf8
      case .removed: stream += "D \(Self.quoted(path))\n".utf8
      }
    }
    stream += "\ndone\n".utf8
    return stream
  }

  /// Returns file contents as input for `git fast-import`, without a commit. Used if a commit is too large for one
  /// stream.
  static func stream(blobs: [[UInt8]]) -> [UInt8] {
    var stream = Array("feature done\n".utf8)
    for bytes in blobs {
      stream += "blob\ndata \(bytes.count)\n".utf8
      stream += bytes
      stream.append(UInt8(ascii: "\n"))
    }
    stream += "done\n".utf8
    return stream
  }

  /// Returns the same files as input for `git update-index --index-info -z`.
  package func indexEntries(_ hash: GitHash) -> [UInt8] {
    var entries: [UInt8] = []
    for (path, file) in files.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      switch file {
      case .bytes(let bytes): entries += "100644 \(hash.blobName(of: bytes))".utf8
      case .name(let name): entries += "\(modes[path] ?? "100644") \(name)".utf8
      case .removed: entries += "0 \(hash.zero)".utf8
      }
      entries.append(UInt8(ascii: "\t"))
      entries += path.utf8
      entries.append(0)
    }
    return entries
  }

  /// Returns a path in quotation marks, with escapes as in C (`git-fast-import(1)`).
  static func quoted(_ path: String) -> String {
    var text = "\""
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): text += "\\" + String(UnicodeScalar(byte))
      case 0x20..<0x7F: text += String(UnicodeScalar(byte))
      default:
        let digits = String(byte, radix: 8)
        text += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
      }
    }
    return text + "\""
  }
}
