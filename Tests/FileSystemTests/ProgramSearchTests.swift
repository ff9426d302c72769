import FileSystem
import Glibc
import TestSupport
import Testing

@Suite("Search for programs", .serialized) struct ProgramSearchTests {
  @Test func `a program is the first executable file in an absolute folder`() throws {
    let folder = ScratchFolder()
    let path = folder.path
    for name in ["a", "b", "c", "b/tool", "d"] where unsafe mkdir("\(path)/\(name)", 0o700) != 0 {
      Issue.record("mkdir failed")
    }
    for (name, mode) in [("a/tool", 0o600), ("c/tool", 0o700), ("d/tool", 0o700)] as [(String, mode_t)] {
      close(unsafe creat("\(path)/\(name)", mode))
    }
    let found = "\(path)/c/tool"
    let up = String(repeating: "../", count: 20) + path.dropFirst()
    for searchPath in [
      "\(path)/c", "\(path)/a:\(path)/b:\(path)/c:\(path)/d", ":.:\(up)/d::\(path)/c:",
      "/nonexistent:\(path)/c",
    ] {
      #expect(ProgramSearch.path(of: "tool", in: searchPath) == found)
    }
    for searchPath in ["", ":", ".", "\(up)/d", "\(path)/a", "\(path)/b"] {
      #expect(ProgramSearch.path(of: "tool", in: searchPath) == nil)
    }
    for name in ["", "/tool", "c/tool", found, "tool\0"] {
      #expect(ProgramSearch.path(of: name, in: "\(path):\(path)/c:/") == nil)
    }
  }

  /// The file or folder that other users can change.
  private enum Weak: CaseIterable {
    case folder
    case program
    case folderAbove
    case folderOfTarget
    case target
  }

  @Test(arguments: Weak.allCases)
  private func `a program that other users could change is skipped`(weak: Weak) throws {
    let folder = ScratchFolder()
    let path = folder.path
    for name in ["above", "above/bin", "targets", "safe"] {
      #expect(unsafe mkdir("\(path)/\(name)", 0o700) == 0)
    }
    try ExecutableFile.write("#!/bin/sh\n", to: "\(path)/safe/tool")
    let isLink = weak == .folderOfTarget || weak == .target
    let program = isLink ? "\(path)/targets/tool" : "\(path)/above/bin/tool"
    try ExecutableFile.write("#!/bin/sh\n", to: program)
    if isLink { #expect(unsafe symlink(program, "\(path)/above/bin/tool") == 0) }
    let searchPath = "\(path)/above/bin:\(path)/safe"
    #expect(ProgramSearch.path(of: "tool", in: searchPath) == "\(path)/above/bin/tool")
    #expect(ProgramSearch.safeFolders(of: ":.:\(searchPath):relative") == searchPath)
    let changed =
      switch weak {
      case .folder: "\(path)/above/bin"
      case .program, .target: program
      case .folderAbove: "\(path)/above"
      case .folderOfTarget: "\(path)/targets"
      }
    #expect(unsafe chmod(changed, 0o722) == 0)
    #expect(ProgramSearch.path(of: "tool", in: searchPath) == "\(path)/safe/tool")
    if weak == .folder || weak == .folderAbove {
      #expect(ProgramSearch.safeFolders(of: searchPath) == "\(path)/safe")
    }
  }

  @Test func `folders with the sticky bit and links owned by root are accepted`() throws {
    let folder = ScratchFolder()
    #expect(unsafe mkdir("\(folder.path)/bin", 0o700) == 0)
    try ExecutableFile.write("#!/bin/sh\n", to: "\(folder.path)/bin/tool")
    #expect(unsafe chmod(folder.path, 0o1777) == 0)
    #expect(ProgramSearch.path(of: "tool", in: "\(folder.path)/bin") != nil)
    #expect(ProgramSearch.path(of: "sh", in: "/bin") == "/bin/sh")
  }
}
