import Foundation
import FileSystem
import Synchronization
import TestSupport
import Testing

/// Tests that no operation leaves the store, even if a link or a pipe replaces a part of the path (threat T20).
@Suite(.serialized) struct FileTreeTests {
  private let scratch = ScratchFolder()
  private var store: String { "\(scratch.path)/store" }

  init() throws {
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: false)
    try Data("outside".utf8).write(to: URL(fileURLWithPath: "\(scratch.path)/outside"))
  }

  @Test func `a link in place of a folder is not followed`() throws {
    try FileManager.default.createDirectory(
      atPath: "\(scratch.path)/elsewhere", withIntermediateDirectories: false)
    try Data("outside".utf8).write(to: URL(fileURLWithPath: "\(scratch.path)/elsewhere/file"))
    try FileManager.default.createSymbolicLink(
      atPath: "\(store)/items", withDestinationPath: "\(scratch.path)/elsewhere")
    let tree = try FileTree(at: store)
    #expect { try tree.read("items/file", limit: 100) } throws: { isNotOurs($0) }
    #expect { try tree.createFile("items/new", [1]) } throws: { isNotOurs($0) }
    #expect { try tree.rename("items/file", to: "file") } throws: { isNotOurs($0) }
    #expect { try tree.remove("items/file") } throws: { isNotOurs($0) }
    #expect { _ = try tree.list("items") } throws: { isNotOurs($0) }
    #expect(FileManager.default.fileExists(atPath: "\(scratch.path)/elsewhere/file"))
    #expect(!FileManager.default.fileExists(atPath: "\(scratch.path)/elsewhere/new"))
  }

  @Test func `a file that is swapped for a link during a read never leads outside`() throws {
    let tree = try FileTree(at: store)
    try tree.createFile("file", Array("inside!".utf8))
    let isDone = Atomic(false)
    let (store, outside) = (store, "\(scratch.path)/outside")
    let counts = Mutex((inside: 0, refused: 0))
    try ThreadGroup.run(2) { number in
      if number == 0 {
        for round in 0..<5000 {
          let temporary = "\(store)/temporary"
          if round % 2 == 0 {
            try FileManager.default.createSymbolicLink(atPath: temporary, withDestinationPath: outside)
          } else {
            try Data("inside!".utf8).write(to: URL(fileURLWithPath: temporary))
          }
          _ = unsafe rename(temporary, "\(store)/file")
        }
        isDone.store(true, ordering: .releasing)
      } else {
        while !isDone.load(ordering: .acquiring) {
          do {
            let bytes = try tree.read("file", limit: 100)
            #expect(bytes == Array("inside!".utf8))
            counts.withLock { $0.inside += 1 }
          } catch {
            counts.withLock { $0.refused += 1 }
          }
        }
      }
    }
    let (inside, refused) = counts.withLock { $0 }
    #expect(inside > 0 && refused > 0, "both states must occur: \(inside) and \(refused)")
  }

  @Test func `a pipe in place of a file is refused without waiting for a writer`() throws {
    #expect(unsafe mkfifo("\(store)/file", 0o600) == 0)
    #expect { try FileTree(at: store).read("file", limit: 100) } throws: { isNotOurs($0) }
  }

  @Test func `a file larger than the limit is not read`() throws {
    let tree = try FileTree(at: store)
    try tree.createFile("file", [UInt8](repeating: 1, count: 101))
    #expect(throws: FileError("read", "file", .tooLarge(limit: 100))) { try tree.read("file", limit: 100) }
    #expect(try tree.read("file", limit: 101)?.count == 101)
  }

  @Test func `a new file is private to its owner and never replaces another file`() throws {
    let tree = try FileTree(at: store)
    try tree.createFile("a/b/file", [1, 2])
    let folder = try #require(try tree.status("a/b"))
    let file = try #require(try tree.status("a/b/file"))
    #expect(folder.mode == 0o700 && file.mode == 0o600)
    #expect(throws: FileError("create", "a/b/file", .system(EEXIST))) { try tree.createFile("a/b/file", [3]) }
    #expect(try tree.read("a/b/file", limit: 10) == [1, 2])
  }

  private func isNotOurs(_ error: any Error) -> Bool {
    (error as? FileError)?.reason == .notARegularFile
  }
}
