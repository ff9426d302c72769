import Encoding
import Foundation
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import BrowserHost

/// The published extension as the judge of names and contents: its own code runs unmodified under Node.js.
@Suite("The code of the extension", .serialized, .slow)
struct ExtensionTests {
  /// The background script of the Debian package `webext-browserpass`.
  static let script =
    "/usr/share/mozilla/extensions/{ec8030f7-c20a-464f-9b0e-13a3a9e97384}/browserpass@maximbaz.com/js/background.dist.js"

  static var node: String? {
    ["/usr/bin/node", "/usr/local/bin/node"].first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  static var isInstalled: Bool { node != nil && FileManager.default.fileExists(atPath: script) }

  @Test(
    "finds each of 10,000 logins on its own host with its account and secret, and on no other host",
    .enabled(if: isInstalled, "needs the Debian packages `nodejs` and `webext-browserpass`"))
  func judge() throws {
    var generator = SeededGenerator(seed: 2026)
    let logins = (1...10_000).compactMap { number in
      WebLogin(BrowserSamples.record(number, using: &generator), protocols: BrowserSamples.protocols)
    }
    let names = LoginNames(logins)
    #expect(names.entries.count == logins.count)
    let listing = LoginListing(names)
    #expect(listing.omitted == 0)
    var lines = [Self.text(BrowserAnswer(LoginListing.data("files", [("default", listing.files)])))]
    for entry in names.entries { lines.append(try Self.line(entry, using: &generator)) }
    let folder = ScratchFolder()
    let cases = folder.path + "/cases.jsonl"
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: cases))
    let (output, status) = try Self.run([Self.judgeScript, Self.script, cases])
    #expect(status == 0, "\(output)")
    #expect(output.hasSuffix(" 0 failures\n"), "\(output)")
  }

  private static var judgeScript: String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
      .appendingPathComponent("fixtures/browser/judge.js").path
  }

  private static func run(_ arguments: [String]) throws -> (output: String, status: Int32) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: node ?? "")
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (String(decoding: data, as: UTF8.self), process.terminationStatus)
  }

  /// Returns the case of one login.
  private static func line(_ entry: LoginNames.Entry, using generator: inout SeededGenerator) throws -> String
  {
    let login = entry.login
    let secret = BrowserSamples.secrets.randomElement(using: &generator) ?? ""
    let hasSeed = Bool.random(using: &generator)
    let seed = "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP"
    let sent = SentLogin(
      secret: SecretSlice(SecretBytes(text: secret)), account: login.account, url: login.url,
      seed: hasSeed ? SecretSlice(SecretBytes(text: seed)) : nil)
    var answer = JSONValue.null
    do {
      answer = .string(text(BrowserAnswer(contents: try sent.contents())))
    } catch {
      #expect([.ambiguous, .blank].contains(error))
    }
    let (own, foreign) = tabs(of: login, using: &generator)
    let object = JSONValue.object([
      JSONMember("file", .string(String(decoding: entry.name.file, as: UTF8.self))),
      JSONMember("answer", answer),
      JSONMember("secret", .string(secret)), JSONMember("hasSeed", .bool(hasSeed)),
      JSONMember("account", .string(String(decoding: SentLogin.asRead(login.account), as: UTF8.self))),
      JSONMember("url", .string(String(decoding: login.url ?? [], as: UTF8.self))),
      JSONMember("own", .array(own.map { .string($0) })),
      JSONMember("foreign", .array(foreign.map { .string($0) })),
    ])
    return String(decoding: object.canonicalBytes, as: UTF8.self)
  }

  /// Returns origins on which the extension must offer a login, and on which it must not.
  private static func tabs(
    of login: WebLogin, using generator: inout SeededGenerator
  ) -> (own: [String], foreign: [String]) {
    let host = String(decoding: login.hostInURL, as: UTF8.self)
    let port = login.port.map { ":\($0)" } ?? ""
    let isName =
      login.host.contains(UInt8(ascii: ".")) && !host.hasPrefix("[") && !(host.last?.isNumber ?? false)
    var own = ["https://\(host)\(port)"]
    if isName { own.append("https://sub.\(host)\(port)") }
    if port.isEmpty { own.append("http://\(host)") }
    var foreign =
      isName ? ["https://evil-\(host)", "https://\(host).evil.example", "https://evil\(host)"] : []
    if !port.isEmpty { foreign.append("https://\(host)") }
    let account = String(decoding: login.account, as: UTF8.self)
    for candidate in [account, String(account.drop { $0 == "@" })]
    where URL(string: "https://\(candidate)")?.host != nil {
      if candidate.contains(".") { foreign.append("https://\(candidate)") }
    }
    let other = BrowserSamples.hosts.randomElement(using: &generator) ?? ""
    if !other.contains(":") { foreign.append("https://\(other.lowercased())") }
    // These tabs have the port 443. An account without a dot can be the host of a tab in a local network; the extension
    // then offers the login there, and `fetch` refuses it.
    foreign.removeAll { tab in
      guard let tabHost = TabSite(origin: Array(tab.utf8))?.host else { return true }
      let isOwn = WebLogin.isBelow(tabHost, login.host) && [nil, 443].contains(login.port)
      return isOwn || login.takesAccountForHost(inTab: tabHost)
    }
    return (own, foreign)
  }

  private static func text(_ answer: consuming BrowserAnswer) -> String { answer.message.text() }
}
