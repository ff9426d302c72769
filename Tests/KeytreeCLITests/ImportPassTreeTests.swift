import Foundation
import Glibc
import Testing
@testable import Interchange
@testable import KeytreeCLI

@Suite("The files of a password store", .serialized)
struct ImportPassTreeTests {
  @Test("a missing store and a file in the place of a store have different errors")
  func missing() {
    #expect(error(for: "/nonexistent") == .failed(path: [], errno: ENOENT))
    #expect(error(for: #filePath) == .failed(path: [], errno: ENOTDIR))
  }

  @Test("fifos, names that are not UTF-8 and a file named .gpg are distinguished")
  func oddFiles() throws {
    try withFolder { folder in
      #expect(unsafe mkfifo(folder.appending(path: "fifo.gpg").path, 0o600) == 0)
      try Data().write(to: folder.appending(path: ".gpg"))
      try Data().write(to: folder.appending(path: "upper.GPG"))
      let name = Array("\(folder.path)/caf".utf8) + [0xE9] + ".gpg".utf8
      let file = unsafe name.withTerminator { unsafe creat($0, 0o600) }
      try #require(file >= 0)
      close(file)
      let tree = try PassTree(path: folder.path)
      let listing = try tree.scan()
      #expect(listing.entries.map(\.path) == [Array("caf".utf8) + [0xE9]])
      #expect(listing.draft.findings.map(\.source.text) == [".gpg", "fifo.gpg", "upper.GPG"])
      #expect(
        listing.draft.findings.map(\.outcome) == [
          .lost(.strayFile), .lost(.notAFile), .lost(.strayFile),
        ])
      #expect(try tree.ciphertext(of: listing.entries[0]).isEmpty)
    }
  }

  @Test("a file or folder that became a link after the scan is not followed")
  func swapped() throws {
    try withFolder { folder in
      let manager = FileManager.default
      try manager.createDirectory(at: folder.appending(path: "store/a"), withIntermediateDirectories: true)
      try manager.createDirectory(at: folder.appending(path: "other"), withIntermediateDirectories: true)
      for path in ["store/a/x.gpg", "store/y.gpg", "other/x.gpg"] {
        try Data("cipher".utf8).write(to: folder.appending(path: path))
      }
      let tree = try PassTree(path: folder.appending(path: "store").path)
      let entries = try tree.scan().entries
      try #require(entries.map { String(decoding: $0.path, as: UTF8.self) } == ["a/x", "y"])
      for (path, target) in [("store/a", "../other"), ("store/y.gpg", "../other/x.gpg")] {
        try manager.removeItem(at: folder.appending(path: path))
        try manager.createSymbolicLink(
          atPath: folder.appending(path: path).path, withDestinationPath: target)
      }
      for entry in entries {
        #expect(throws: PassTreeError.self) {
          _ = try PassTree(path: folder.path + "/store").ciphertext(of: entry)
        }
      }
    }
  }

  @Test(
    "a link to an item becomes a name, a link to a folder is skipped, and any other link is lost",
    arguments: [
      ("a/x.gpg", "alias"), ("./a//x.gpg", "alias"), ("a/../a/x.gpg", "alias"), ("STORE/a/x.gpg", "alias"),
      ("a", "folder"), (".", "folder"), ("a/", "folder"), ("STORE/a", "folder"),
      ("..", "lost"), ("a/../../x.gpg", "lost"), ("/etc/hostname", "lost"), ("a/x", "lost"),
      ("nothing.gpg", "lost"), ("STORE-2/a/x.gpg", "lost"), ("self.gpg", "lost"),
    ])
  func links(_ target: String, _ kind: String) throws {
    try withFolder { folder in
      try FileManager.default.createDirectory(
        at: folder.appending(path: "a"), withIntermediateDirectories: false)
      try Data().write(to: folder.appending(path: "a/x.gpg"))
      let target = target.replacingOccurrences(of: "STORE", with: folder.path)
      #expect(unsafe symlink(target, folder.appending(path: "self.gpg").path) == 0)
      let listing = try PassTree(path: folder.path).scan()
      #expect(listing.entries.map(\.aliases) == [kind == "alias" ? [Array("self".utf8)] : []])
      let found = listing.draft.findings.map { finding in
        switch finding.outcome {
        case .skipped(.alias): "alias"
        case .skipped(.folderLink): "folder"
        default: finding.outcome.word
        }
      }
      #expect(found == [kind])
    }
  }

  @Test("an item keeps eight links as names, and further ones are reported as lost")
  func manyLinks() throws {
    try withFolder { folder in
      try Data().write(to: folder.appending(path: "x.gpg"))
      for number in 1...9 {
        #expect(unsafe symlink("x.gpg", folder.appending(path: "link\(number).gpg").path) == 0)
      }
      let listing = try PassTree(path: folder.path).scan()
      #expect(listing.entries.map(\.aliases.count) == [8])
      #expect(listing.draft.findings.count(where: \.outcome.isLoss) == 1)
    }
  }

  @Test("files and folders beyond the limits are refused")
  func limits() throws {
    try withFolder { folder in
      let deep = (0...PassTree.depthLimit).map { "\($0)" }.joined(separator: "/")
      try FileManager.default.createDirectory(
        at: folder.appending(path: deep), withIntermediateDirectories: true)
      let tree = try PassTree(path: folder.path)
      #expect(throws: PassTreeError.tooDeep(path: Array(deep.utf8), limit: PassTree.depthLimit)) {
        _ = try PassTree(path: folder.path).scan()
      }
      let large = Data(count: PassTree.fileLimit + 1)
      try large.write(to: folder.appending(path: "large.gpg"))
      let entry = PassEntry(components: [Array("large".utf8)])
      #expect(throwing(tree, entry) == .tooLarge(path: Array("large".utf8), limit: PassTree.fileLimit))
    }
  }

  // The closure of `#expect(throws:)` cannot capture a noncopyable tree.
  private func throwing(_ tree: borrowing PassTree, _ entry: PassEntry) -> PassTreeError? {
    do throws(PassTreeError) {
      _ = try tree.ciphertext(of: entry)
      return nil
    } catch {
      return error
    }
  }

  private func error(for path: String) -> PassTreeError? {
    do throws(PassTreeError) {
      _ = try PassTree(path: path)
      return nil
    } catch {
      return error
    }
  }

  private func withFolder(_ body: (URL) throws -> Void) throws {
    let folder = URL(filePath: "/tmp/kt-\(UInt32.random(in: 0...UInt32.max))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }  // A leftover folder is only in /tmp.
    try body(folder)
  }
}
