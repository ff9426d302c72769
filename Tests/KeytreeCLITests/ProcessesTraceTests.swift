import Foundation
import TestSupport
import Testing

/// The system calls of the command, as strace reports them.
@Suite(.enabled(if: ProcessesTracer.strace != nil, Comment(rawValue: ProcessesTracer.reason)), .serialized)
struct ProcessesTraceTests {
  /// A command, and the programs that it starts after its engine home has been created.
  static let starts: [(arguments: [String], programs: [String])] = [
    (["get", "traced.example/alice"], ["gpg"]),
    (["get", "keytree://internet-password/traced.example/alice"], ["gpg"]),
    (["get", "--attributes", "traced.example/alice"], []),
    (["find"], []),
    (["find", "traced"], []),
    (["version"], []),
  ]

  @Test("a command starts no more programs than it needs", arguments: starts)
  func startsPrograms(_ arguments: [String], _ programs: [String]) throws {
    let program = try ProcessesProgram.withStore(["traced.example/alice": "secret"])
    let lines = try trace(program, arguments, calls: "execve")
    // A failed attempt, as along a search path, would start nothing, but there must be none either.
    let started = lines.filter { $0.contains("execve(") }.dropFirst()
    #expect(started.compactMap(Self.programName) == programs, "\(started)")
  }

  /// A command, and a Boolean value that indicates whether it uses a socket. The commands that do prove that the trace
  /// works.
  static let speakers: [(arguments: [String], speaks: Bool)] = [
    (["get", "traced.example/alice"], true), (["add", "new.example/alice"], true), (["doctor"], true),
    (["check", "--decrypt"], true), (["audit"], true), (["check"], false), (["find"], false),
    (["version"], false),
  ]

  @Test("commands use local sockets only", arguments: speakers)
  func staysLocal(_ arguments: [String], _ speaks: Bool) throws {
    let program = try ProcessesProgram.withStore(["traced.example/alice": "secret"])
    let lines = try trace(program, arguments, calls: "network")
    let sockets = lines.filter { $0.contains("socket(") || $0.contains("socketpair(") }
    #expect(sockets.allSatisfy { $0.contains("(AF_UNIX,") }, "\(sockets)")
    #expect(sockets.isEmpty != speaks, "\(sockets)")
  }

  /// The other tests of power cuts see only the operations that the program reports to its fault plan. This one checks the
  /// system calls themselves.
  @Test("files are on the disk before a transaction is committed, and their names before it is removed")
  func synchronizes() throws {
    let program = try ProcessesProgram.withStore(["traced.example/alice": "secret"])
    let lines = try trace(
      program, ["add", "new.example/alice"], calls: "fsync,renameat,unlinkat", options: ["-y"]
    ).filter { $0.hasSuffix(" = 0") }
    /// Returns the number of a line that contains all words.
    func number(_ words: String..., after start: Int = -1, before end: Int? = nil) throws -> Int {
      let found = lines.indices.first { number in
        number > start && number < end ?? lines.count && words.allSatisfy { lines[number].contains($0) }
      }
      return try #require(found, "\(words) is missing in \(lines)")
    }
    let commit = try number("renameat(", "\"commit.tmp\"", "\"commit.json\"")
    let removal = try number("unlinkat(", "\"commit.json\"")
    let folder = try #require(lines[commit].split { "<>".contains($0) }.dropFirst().first)
    let work = folder.prefix(upTo: try #require(folder.lastIndex(of: "/")))
    for place in ["\(folder)/commit.tmp", String(folder), String(work)] {
      _ = try number("fsync(", "<\(place)>", before: commit)
    }
    _ = try number("fsync(", "<\(work)>", after: removal)
    let first = try number("renameat(", "-placed\"")
    _ = try number("fsync(", "<\(folder)>", after: commit, before: first)
    let placed = lines.indices.filter { lines[$0].contains("-placed\"") && lines[$0].contains("renameat(") }
    #expect(placed.count == 3, "the record, the encrypted file and the shard")
    for rename in placed {
      let words = lines[rename].split { "<>\"".contains($0) }
      try #require(words.count > 5, "\(lines[rename])")
      let (name, target) = (words[3].dropLast("-placed".count), words[5])
      _ = try number("fsync(", "<\(folder)/\(name)>", before: commit)
      _ = try number("fsync(", "<\(target)>", after: rename, before: removal)
    }
  }

  private func trace(
    _ program: ProcessesProgram, _ arguments: [String], calls: String, options: [String] = []
  ) throws -> [Substring] {
    let log = "\(program.folder)/strace.log"
    let strace = try #require(ProcessesTracer.strace)
    try program.succeed(
      arguments, input: "secret",
      tracer: [strace, "-f", "-qq", "-e", "signal=none", "-e", "trace=\(calls)", "-o", log] + options)
    return try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
  }

  /// The last path component of the first quoted word.
  private static func programName(_ line: Substring) -> String? {
    let words = line.split(separator: "\"")
    return words.count > 1 ? words[1].split(separator: "/").last.map(String.init) : nil
  }
}
