import Foundation

/// A copy of a folder and its content.
package struct SavedFolder {
  /// The path of the folder.
  package let path: String
  private let copy: ScratchFolder?

  /// Copies the folder. If it does not exist, `restore` removes it.
  package init(_ path: String) throws {
    self.path = path
    guard FileManager.default.fileExists(atPath: path) else {
      copy = nil
      return
    }
    let copy = ScratchFolder()
    try FileManager.default.copyItem(atPath: path, toPath: "\(copy.path)/copy")
    self.copy = copy
  }

  /// Replaces the folder with its copy.
  package func restore() throws {
    if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
    if let copy { try FileManager.default.copyItem(atPath: "\(copy.path)/copy", toPath: path) }
  }
}
