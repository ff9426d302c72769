import Foundation
import Glibc
import TestSupport
import Testing

/// Remotes that `keytree git` connects to: neither a repository on this machine nor an address may run a program.
@Suite("Remotes of keytree git", .serialized)
struct GitRemoteTests {
  @Test func `a push to a repository on this machine runs neither its hooks nor its settings`() throws {
    let world = try World()
    try world.writeHooks()
    for command in [["push"], ["push", "origin", "main"], ["fetch"], ["pull", "-q"], ["remote", "update"]] {
      try world.change()
      let outcome = try world.program.run(["git"] + command)
      #expect(outcome.status == 0, "\(command): \(outcome.errors)")
      #expect(!world.isTriggered, "\(command)")
    }
    // The hooks of an address without a name cannot be avoided.
    for command in [
      ["push", world.hub, "main:x"], ["push", "--repo=\(world.hub)"], ["push", "../hub.git"],
    ] {
      try world.change()
      let outcome = try world.program.run(["git"] + command)
      #expect(
        outcome.status == 11 && outcome.errors.contains("hooks/update"), "\(command): \(outcome.errors)")
      #expect(!world.isTriggered, "\(command)")
    }
    #expect(try world.program.run(["git", "fetch", world.hub]).status == 0)
    // The same push without keytree runs them.
    try world.program.git(["push", "-q", world.hub, "main:x"])
    #expect(world.isTriggered)
  }

  /// Settings of a remote that git would honor.
  static let settings = [
    ("core.alternateRefsCommand", "touch PWNED"), ("extensions.partialClone", "x"), ("core.hooksPath", "/x"),
  ]

  @Test(arguments: settings)
  func `a remote with other settings is refused for every command that connects, and no other`(
    key: String, value: String
  ) throws {
    let world = try World()
    try world.program.git(["config", "--global", "alias.send", "push"])
    try world.program.git(["config", "--file", "\(world.hub)/config", key, value])
    for command in [
      ["push"], ["fetch"], ["pull"], ["ls-remote"], ["remote", "update"], ["remote", "show", "origin"],
      ["fetch", world.hub], ["ls-remote", "file://\(world.hub)"], ["push", "../hub", "main"],
      ["-c", "remote.x.url=\(world.hub)", "fetch", "x"],
    ] {
      let outcome = try world.program.run(["git"] + command)
      #expect(outcome.status == 11, "\(command): \(outcome.errors)")
      #expect(outcome.errors.contains("\(world.hub) has settings"), "\(command): \(outcome.errors)")
      #expect(outcome.errors.contains(key.lowercased()), "\(command): \(outcome.errors)")
    }
    try world.change()
    let alias = try world.program.run(["git", "send"])
    #expect(alias.status == 128 && alias.errors.contains("transport 'file' not allowed"), "\(alias.errors)")
    for command in [["status"], ["log", "-1"], ["remote", "-v"], ["config", "--list"]] {
      let outcome = try world.program.run(["git"] + command)
      #expect(outcome.status == 0, "\(command): \(outcome.errors)")
    }
    #expect(try world.program.run(["sync"]).status == 11)
    #expect(try world.program.run(["clone", world.hub, "\(world.program.folder)/new"]).status == 11)
    #expect(!FileManager.default.fileExists(atPath: "\(world.program.folder)/new"))
    #expect(!world.isTriggered)
    try world.program.succeed(["git", "remote", "remove", "origin"])
    #expect(try world.program.run(["git", "fetch", "--all"]).status == 0)
  }

  /// Configurations in which a remote has no address, so that git uses its name as one.
  static let unnamed = [
    ["remote.../hub.git.fetch", "refs/heads/*:refs/x/*"], ["remote.../hub.git.pushurl", "/nowhere"],
    ["branch.main.remote", "../hub.git"], ["branch.main.pushRemote", "../hub"],
    ["remote.pushDefault", "../hub"],
  ]

  @Test(arguments: unnamed)
  func `a remote whose name is its address is checked, too`(setting: [String]) throws {
    let world = try World()
    try world.program.git(["remote", "remove", "origin"])
    try world.program.git(["config"] + setting)
    try world.program.git(["config", "--file", "\(world.hub)/config", "core.hooksPath", "/x"])
    for command in [["fetch", "--all"], ["push"]] {
      let outcome = try world.program.run(["git"] + command)
      #expect(
        outcome.status == 11 && outcome.errors.contains("core.hookspath"), "\(command): \(outcome.errors)")
    }
  }

  @Test func `no git command runs a remote helper, and the message says how to allow one`() throws {
    let world = try World()
    let programs = "\(world.program.folder)/programs"
    try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: false)
    try ExecutableFile.write("#!/bin/sh\ntouch '\(world.trap)'\nexit 1\n", to: "\(programs)/git-remote-probe")
    let variables = ["PATH": "\(programs):/usr/bin:/bin"]
    for command in [
      ["push", "probe::x", "main"], ["fetch", "probe::x"], ["pull", "probe://x"], ["ls-remote", "probe::x"],
      ["clone", "probe::x", "y"],
    ] {
      let outcome = try world.program.run(["git"] + command, variables: variables)
      #expect(outcome.status == 11 && outcome.errors.contains("protocol.probe.allow"), "\(outcome.errors)")
    }
    // An address that would wait for the user.
    let hang = try world.program.run(["git", "push", "fd::17/x", "main"], tracer: ProcessesProgram.watchdog)
    #expect(hang.status == 11)
    try world.program.succeed(["git", "config", "remote.origin.pushurl", "probe::x"])
    for command in [["git", "push"], ["git", "fetch"], ["sync"], ["clone", "probe::x", "\(programs)/y"]] {
      try world.change()
      let outcome = try world.program.run(command, variables: variables)
      #expect(outcome.status == 11 && outcome.errors.contains("git-remote-probe"), "\(outcome.errors)")
    }
    #expect(!world.isTriggered)
    try world.program.git(["config", "--global", "protocol.probe.allow", "always"])
    _ = try world.program.run(["git", "push"], variables: variables)
    #expect(world.isTriggered)
  }

  /// A store with a remote on this machine.
  private final class World {
    let program: ProcessesProgram
    var hub: String { "\(program.folder)/hub.git" }
    var trap: String { "\(program.folder)/PWNED" }
    private var number = 0

    init() throws {
      program = try ProcessesProgram()
      try program.succeed(["init"])
      try program.git(["init", "-q", "--bare", "-b", "main", hub], in: program.folder)
      try program.git(["remote", "add", "origin", hub])
      try program.succeed(["sync"])
    }

    func change() throws {
      number += 1
      try program.succeed(["add", "a\(number).example/me"], input: "s")
    }

    func writeHooks() throws {
      for name in ["pre-receive", "update", "post-receive", "post-update", "reference-transaction"] {
        try ExecutableFile.write("#!/bin/sh\ntouch '\(trap)'\n", to: "\(hub)/hooks/\(name)")
      }
    }

    var isTriggered: Bool { FileManager.default.fileExists(atPath: trap) }
  }
}
