internal import Encoding
import Foundation
import KeyringModel

/// The content of a folder, to detect changes.
package struct StoreDigest: Equatable, CustomStringConvertible {
  /// The kind, the mode, and the content or the target of a link, by path.
  private let entries: [String: String]

  /// Reads a folder, which need not exist.
  package init(of folder: String) {
    var entries: [String: String] = [:]
    let manager = FileManager.default
    for path in manager.enumerator(atPath: folder)?.allObjects as? [String] ?? [] {
      // The process that takes the lock writes its number into the file, which does not change the store.
      if path == ".keytree/lock" { continue }
      // The history may still have to record earlier changes by a command or by hand.
      if path == ".git" || path.hasPrefix(".git/") { continue }
      if [".keytree/commit", ".keytree/count-", ".keytree/sync.lock"].contains(where: path.hasPrefix) {
        continue
      }
      let full = "\(folder)/\(path)"
      var facts = stat()
      guard unsafe lstat(full, &facts) == 0 else { continue }
      var content = ""
      switch facts.st_mode & S_IFMT {
      case S_IFREG: content = ContentDigest(of: Array(manager.contents(atPath: full) ?? Data())).base64url
      case S_IFLNK: content = (try? manager.destinationOfSymbolicLink(atPath: full)) ?? ""
      default: break
      }
      entries[path] = String(facts.st_mode, radix: 8) + " " + content
    }
    self.entries = entries
  }

  /// Returns the paths that differ, as text for people.
  package func difference(from other: StoreDigest) -> String {
    Set(entries.keys).union(other.entries.keys).sorted()
      .filter { entries[$0] != other.entries[$0] }.joined(separator: ", ")
  }

  package var description: String { entries.keys.sorted().joined(separator: "\n") }
}
