import Foundation
import Secrets
import Testing
@testable import KeytreeCLI
@testable import Terminal

@Suite("A file for a secret", .serialized)
struct SecretFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func write(_ name: String) throws {
    try SecretFile(path: folder.path + "/" + name).write(SecretBytes(copying: Array("secret".utf8)))
  }

  @Test("a secret file is created only if the path does not exist, even if another file appears there late")
  func exclusive() throws {
    let manager = FileManager.default
    #expect(manager.createFile(atPath: folder.path + "/file", contents: Data("old".utf8)))
    try manager.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: "file")
    try manager.createSymbolicLink(atPath: folder.path + "/dangling", withDestinationPath: "nowhere")
    for name in ["file", "link", "dangling", "home"] {
      #expect(throws: UserFileError.self) { try write(name) }
    }
    #expect(manager.contents(atPath: folder.path + "/file") == Data("old".utf8))
    #expect(!manager.fileExists(atPath: folder.path + "/nowhere"))
  }

  @Test("only the owner can read a secret file")
  func content() throws {
    try write("new")
    let path = folder.path + "/new"
    #expect(FileManager.default.contents(atPath: path) == Data("secret".utf8))
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }
}
