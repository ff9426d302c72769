import FileSystem
import Glibc
import TestSupport
import Testing

/// Tests locks of files.
@Suite(.serialized) struct FileLockTests {
  private let scratch = ScratchFolder()

  private func open() -> Int32 {
    unsafe Glibc.open(scratch.path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
  }

  @Test func `a released lock is free although a program that is being started has the file open`() throws {
    let holder = open()
    #expect(FileLock.take(holder, .exclusive, within: 0) == 0)
    // A child has such copies from fork(2) to execve(2).
    let copy = dup(holder)
    defer { close(copy) }
    FileLock.release(holder)
    let next = open()
    defer { FileLock.release(next) }
    #expect(FileLock.take(next, .exclusive, within: 0) == 0)
  }
}
