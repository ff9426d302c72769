import Arguments
import CommandSupport
import Foundation
import Glibc
import TestSupport
import Testing

/// The built program with real GnuPG, started as Chrome and Firefox start it: under the name `browserpass-keytree`, with
/// pipes, in the root folder, and without a terminal.
@Suite("The host for browsers as a process", .serialized)
struct BrowserPipeTests {
  private let world: CommandFixture
  private let program: String

  init() throws {
    world = try CommandFixture()
    program = world.folder.path + "/browserpass-keytree"
    try FileManager.default.createSymbolicLink(atPath: program, withDestinationPath: BuiltProgram.path)
  }

  /// A host that a browser has started.
  private final class Host {
    let process = Process()
    let input = Pipe()
    let output = Pipe()
    let errors = Pipe()

    /// - Parameter target: where the host writes its answer, instead of to `output`.
    init(
      _ program: String, _ arguments: [String], _ variables: [String: String],
      writingTo target: FileHandle? = nil
    ) throws {
      process.executableURL = URL(fileURLWithPath: program)
      process.arguments = arguments
      process.environment = variables
      process.currentDirectoryURL = URL(fileURLWithPath: "/")
      (process.standardInput, process.standardOutput, process.standardError) = (
        input, target ?? output, errors
      )
      try process.run()
    }

    func write(_ bytes: some Sequence<UInt8>) {
      // The host may have ended already; then its answer is compared.
      try? input.fileHandleForWriting.write(contentsOf: Data(Array(bytes)))
    }

    /// Reads the whole output and waits for the end.
    func finish(closingInput: Bool = true) -> BrowserReply {
      if closingInput { try? input.fileHandleForWriting.close() }
      let data = output.fileHandleForReading.readDataToEndOfFile()
      let talk = errors.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      let status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
      return BrowserReply(status: status, output: Array(data), talk: String(decoding: talk, as: UTF8.self))
    }
  }

  private func start(_ arguments: [String] = [BrowserMessage.origin]) throws -> Host {
    try Host(program, arguments, world.variables)
  }

  /// Returns an output that nobody reads, so that each write fails with `EPIPE`.
  ///
  /// A process that another test forks at this moment can keep the reading end of a pipe open. A socket that is shut
  /// down has no reader, whoever holds it.
  private func abandonedOutput() throws -> FileHandle {
    var ends: [Int32] = [-1, -1]
    try #require(
      unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
    try #require(shutdown(ends[0], Int32(SHUT_WR)) == 0)
    close(ends[1])
    return FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
  }

  private func ask(_ action: String, _ more: [String: Any] = [:]) throws -> BrowserReply {
    let host = try start()
    host.write(BrowserMessage.frame(BrowserMessage.make(action, store: world.store, more: more)))
    return host.finish()
  }

  /// Returns the number that a shell command prints.
  private func shell(_ line: String) throws -> Int {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", line]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return Int(text.filter(\.isNumber)) ?? -1
  }

  @Test("every action works over pipes, and every change is one commit")
  func actions() throws {
    func commits() throws -> Int { try shell("git -C '\(world.store)' rev-list --count HEAD") }
    let before = try commits()
    #expect(before > 0)
    let login: [String: Any] = ["storeId": "default", "file": "github.com/alice.gpg"]
    #expect(try ask("configure").isOK)
    #expect(
      try ask("save", login.merging(["contents": "hunter2\nnote\notp: JBSWY3DPEHPK3PXP"]) { $1 }).isOK)
    #expect(try commits() == before + 1)
    #expect(try ask("save", login.merging(["contents": "hunter2"]) { $1 }).isOK)
    #expect(try commits() == before + 1)
    #expect(try ask("list").files == ["github.com/alice.gpg"])
    #expect(try ask("tree").isOK)
    let fetched = try ask("fetch", login)
    #expect(fetched.contents == "hunter2\nlogin: alice\nurl: https://github.com/")
    #expect(fetched.talk.isEmpty)
    #expect(try ask("delete", login).isOK)
    #expect(try commits() == before + 2)
    #expect(try ask("fetch", login).code == 24)
    #expect(world.run("undelete", "github.com/alice").code == .done)
    #expect(world.run("get", "github.com/alice", "--field", "note").text == "note\n")
  }

  @Test("a frame may arrive byte by byte, and the pipe may stay open")
  func slowFrame() throws {
    let host = try start(["/m.json", "browserpass@maximbaz.com"])
    for byte in BrowserMessage.frame(Array(#"{"action":"echo","echoResponse":"slow"}"#.utf8)) {
      host.write([byte])
      usleep(200)
    }
    let reply = host.finish(closingInput: false)
    #expect(reply.text == "\"slow\"" && reply.status == 0)
  }

  @Test("a request of several megabytes is read, and a larger one is refused")
  func sizes() throws {
    for (size, code) in [(7 << 20, nil), (9 << 20, 11)] {
      let text = String(repeating: "x", count: size)
      let host = try start()
      host.write(
        BrowserMessage.frame(
          Array("{\"settings\":{\"tab\":{\"favIconUrl\":\"\(text)\"}},\"action\":\"echo\"}".utf8)))
      #expect(host.finish().code == code)
    }
  }

  @Test("the end of input ends the host: silently before a frame, with an error within one")
  func closedInput() throws {
    let silent = try start().finish()
    #expect(silent.status == 0 && silent.output.isEmpty && silent.talk.isEmpty)
    for (bytes, code) in [([4, 0], 10), ([4, 0, 0, 0, 0x7B], 11)] as [([UInt8], Int)] {
      let host = try start()
      host.write(bytes)
      #expect(host.finish().code == code)
    }
  }

  @Test("a browser that has gone ends the host without a signal")
  func closedOutput() throws {
    let host = try Host(program, [BrowserMessage.origin], world.variables, writingTo: abandonedOutput())
    host.write(BrowserMessage.frame(BrowserMessage.make("list", store: world.store)))
    try host.input.fileHandleForWriting.close()
    host.process.waitUntilExit()
    #expect(host.process.terminationReason == .exit && host.process.terminationStatus == 1)
    #expect(host.errors.fileHandleForReading.readDataToEndOfFile().isEmpty)
  }

  @Test("concurrent requests are all answered, and the limit for fetches holds over all processes")
  func concurrent() throws {
    #expect(world.run("add", "github.com/alice", input: Array("hunter2".utf8)).code == .done)
    #expect(world.run("config", "browser.fetchesPerMinute", "4").code == .done)
    let message = BrowserMessage.make(
      "fetch", store: world.store, more: ["storeId": "default", "file": "github.com/alice.gpg"])
    let hosts = try (0..<8).map { _ in try start() }
    for host in hosts { host.write(BrowserMessage.frame(message)) }
    let replies = hosts.map { $0.finish() }
    #expect(replies.count { $0.contents == "hunter2\nlogin: alice\nurl: https://github.com/" } == 4)
    #expect(replies.count { $0.code == 24 } == 4)
  }

  @Test("a store that this machine does not trust is not served, and the message names the command")
  func untrusted() throws {
    let host = try Host(
      program, [BrowserMessage.origin],
      world.variables.merging(["XDG_STATE_HOME": world.folder.path + "/other"]) { $1 })
    host.write(BrowserMessage.frame(BrowserMessage.make("configure", store: world.store, stores: [:])))
    let reply = host.finish()
    #expect(reply.code == 14)
    #expect((reply.parameters["message"] as? String)?.contains("keytree trust") == true)
  }
}
