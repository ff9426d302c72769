internal import Encoding
internal import KeyringModel

/// The parents of a merge, and the branch that it is for: git refuses it when the branch has moved since.
struct MergedCommits: Sendable {
  /// The full name of the branch.
  let branch: String
  /// The commit that is merged into.
  let ours: String
  /// The commit that is merged.
  let theirs: String
}

/// The files of one commit: what each of them becomes.
struct CommitContent: Sendable {
  /// One file.
  enum File: Sendable {
    /// Its bytes.
    case bytes([UInt8])
    /// The name of content that the repository has already.
    case name(String)
    /// It is gone.
    case removed
  }

  /// The git command that stores a stream.
  ///
  /// It would store each file as a difference from the one before it in the stream, which is another file, and `git gc`
  /// keeps what it finds. Without differences `git gc` looks for good ones.
  static let importCommand = ["fast-import", "--quiet", "--done", "--depth=0"]

  /// By path from the top of the work tree.
  var files: [String: File] = [:]
  /// The kinds of the files that are not plain ones, as git writes them.
  var modes: [String: String] = [:]

  var isEmpty: Bool { files.isEmpty }

  /// The number of bytes to be stored.
  var size: Int {
    files.values.reduce(0) { if case .bytes(let bytes) = $1 { $0 + bytes.count } else { $0 } }
  }

  /// The commit for `git fast-import`.
  ///
  /// - Parameters:
  ///   - message: Its message.
  ///   - committer: Name, mail and time, as git writes them.
  ///   - isFirst: Whether the branch has no commit yet.
  ///   - sides: What is merged, if anything; without it the commit comes after the last one.
  func stream(
    message: String, committer: String, isFirst: Bool, merging sides: MergedCommits? = nil
  ) -> [UInt8] {
    var stream: [UInt8] = []
    stream.reserveCapacity(size + 256 * files.count)
    // Without its end the stream counts as broken off, and nothing happens.
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

  /// Content alone, for `git fast-import`, ahead of a commit that is too large for one piece.
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

  /// The same files for `git update-index --index-info -z`.
  func indexEntries(_ hash: GitHash) -> [UInt8] {
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

  /// A path between quotation marks, with escapes as in C; `git-fast-import(1)`.
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
