import Foundation
import OpenPGP
import TestSupport
import Testing

@testable import struct OpenPGP.EngineProgram

/// Tests which gpg is run, and which programs are never run (threat T35).
@Suite(.serialized) struct EngineProgramTests {
  // A folder with programs that leave a file when they run.
  private final class Programs {
    let folder = "/tmp/ktbin\(UInt32.random(in: 0 ... .max))"
    var marker: String { folder + "/was-run" }

    init(_ names: [String] = ["gpg", "gpgconf"], mode: Int = 0o755, folderMode: Int = 0o755) throws {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      for name in names {
        try ExecutableFile.write("#!/bin/sh\ntouch \(marker)\n", to: "\(folder)/\(name)", mode: mode)
      }
      try FileManager.default.setAttributes([.posixPermissions: folderMode], ofItemAtPath: folder)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    var wasRun: Bool { FileManager.default.fileExists(atPath: marker) }
  }

  private func failure(searchPath: String) throws -> EngineError? {
    let home = try GnuPGHome()
    var locations = home.locations
    locations.searchPath = searchPath
    let engine = Engine(
      locations: locations, keyringID: "test", keys: GnuPGKey.files([.alice]), interaction: .never)
    let failure = engine.report().failure
    if failure != nil { #expect(engine.statistics.processes == 0) }
    return failure
  }

  @Test func `without gpg on the search path the engine is missing`() throws {
    #expect(
      try failure(searchPath: "/nonexistent:/proc")
        == .engineMissing(detail: "gpg is not in /nonexistent:/proc"))
    #expect(try failure(searchPath: "") == .engineMissing(detail: "gpg is not in "))
  }

  @Test func `a gpg that others can write to is not run`() throws {
    let programs = try Programs(mode: 0o777)
    #expect(
      try failure(searchPath: programs.folder + ":/usr/bin")
        == .unsafeEngine(path: programs.folder + "/gpg", reason: "others can write to it"))
    #expect(!programs.wasRun)
  }

  @Test func `a gpg in a folder that others can write to is not run`() throws {
    let programs = try Programs(folderMode: 0o775)
    #expect(
      try failure(searchPath: programs.folder + ":/usr/bin")
        == .unsafeEngine(path: programs.folder, reason: "others can write to it"))
    #expect(!programs.wasRun)
  }

  @Test func `a gpg from a relative entry is not run, and neither is an unsafe one behind a safe link`()
    throws
  {
    let programs = try Programs(mode: 0o777)
    let up = String(repeating: "../", count: 12)
    let relative = up + programs.folder.dropFirst()
    #expect(
      try failure(searchPath: relative + ":/usr/bin")
        == .unsafeEngine(path: relative + "/gpg", reason: "the search path has a relative entry"))
    let links = try Programs([])
    try FileManager.default.createSymbolicLink(
      atPath: links.folder + "/gpg", withDestinationPath: programs.folder + "/gpg")
    #expect(
      try failure(searchPath: links.folder)
        == .unsafeEngine(path: programs.folder + "/gpg", reason: "others can write to it"))
    #expect(!programs.wasRun)
  }

  @Test func `entries without gpg are ignored`() throws {
    let programs = try Programs([], folderMode: 0o777)
    #expect(try failure(searchPath: ":.:\(programs.folder):/usr/bin:relative") == nil)
  }

  @Test func `a gpgconf that others can write to is not run`() throws {
    let programs = try Programs(["gpgconf"], mode: 0o777)
    try FileManager.default.createSymbolicLink(
      atPath: programs.folder + "/gpg", withDestinationPath: "/usr/bin/gpg")
    #expect(
      try failure(searchPath: programs.folder)
        == .unsafeEngine(path: programs.folder + "/gpgconf", reason: "others can write to it"))
    #expect(!programs.wasRun)
  }

  @Test func `an outdated gpg is refused by its version`() throws {
    let programs = try Programs()
    try "#!/bin/sh\necho 'gpg (GnuPG) 2.2.35'\n"
      .write(toFile: programs.folder + "/gpg", atomically: false, encoding: .utf8)
    let home = try GnuPGHome()
    var locations = home.locations
    locations.searchPath = programs.folder
    let engine = Engine(
      locations: locations, keyringID: "test", keys: GnuPGKey.files([.alice]), interaction: .never)
    #expect(throws: EngineError.engineTooOld(version: "2.2.35")) { try engine.sealed(to: [.alice]) }
  }

  @Test(arguments: [
    ("2.2.36", true), ("2.2.40", true), ("2.3.0", true), ("2.4.8", true), ("2.5.17-beta3", true),
    ("10.0.0", true), ("2.2.35", false), ("2.1.99", false), ("1.4.23", false), ("2.2", false), ("", false),
    ("2.x.40", false), ("1.0.0", false),
  ])
  func `versions are compared as numbers`(version: String, isRecentEnough: Bool) {
    #expect(EngineProgram.isRecentEnough(version) == isRecentEnough)
  }
}
