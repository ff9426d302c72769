import Foundation

/// Copies of folders that a test changes repeatedly, each time from the same state.
///
/// The folders and the repositories in them stay in place, because keytree identifies a repository by its inode.
package struct FolderSnapshot {
  private let places: [String]
  private let kept: String

  /// Copies the folders.
  ///
  /// - Parameters:
  ///   - places: The paths of the folders; their last parts differ.
  ///   - folder: The folder for the copies, which must not exist yet.
  package init(_ places: [String], in folder: String) throws {
    (self.places, kept) = (places, folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    for place in places {
      try FileManager.default.copyItem(atPath: place, toPath: "\(folder)/\(Self.name(of: place))")
    }
  }

  /// Restores the content of all folders.
  package func restore() throws {
    let manager = FileManager.default
    for place in places {
      let source = "\(kept)/\(Self.name(of: place))"
      for part in ["/.git", ""] where manager.fileExists(atPath: source + part) {
        for name in try manager.contentsOfDirectory(atPath: place + part) where name != ".git" {
          try manager.removeItem(atPath: "\(place)\(part)/\(name)")
        }
        for name in try manager.contentsOfDirectory(atPath: source + part) where name != ".git" {
          try manager.copyItem(atPath: "\(source)\(part)/\(name)", toPath: "\(place)\(part)/\(name)")
        }
      }
    }
  }

  private static func name(of path: String) -> String { String(path.split(separator: "/").last ?? "") }
}
