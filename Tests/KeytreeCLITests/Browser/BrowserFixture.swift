import Arguments
import BrowserHost
import Foundation
import KeytreeCLI
import Personalities
import Secrets
import Terminal

/// One answer of the host, as a browser reads it.
struct BrowserReply {
  /// The exit status.
  let status: Int32
  /// Everything on standard output.
  let output: [UInt8]
  let talk: String

  /// The message of the only frame; nil if the output is not exactly one frame.
  var message: [UInt8]? {
    guard output.count >= 4 else { return nil }
    let size = unsafe output.withUnsafeBytes { Int(unsafe $0.loadUnaligned(as: UInt32.self)) }
    return output.count == size + 4 ? Array(output[4...]) : nil
  }

  var text: String { message.map { String(decoding: $0, as: UTF8.self) } ?? "" }

  var object: [String: Any] {
    (message.flatMap { try? JSONSerialization.jsonObject(with: Data($0)) } as? [String: Any]) ?? [:]
  }

  var isOK: Bool { object["status"] as? String == "ok" && status == 0 }
  var data: [String: Any] { object["data"] as? [String: Any] ?? [:] }
  var parameters: [String: Any] { object["params"] as? [String: Any] ?? [:] }

  /// The code of the error if the exit status is the same.
  var code: Int? {
    guard object["status"] as? String == "error", let code = object["code"] as? Int, code == Int(status)
    else {
      return nil
    }
    return code
  }

  /// The names in the default store.
  var files: [String] { (data["files"] as? [String: [String]])?["default"] ?? [] }
  var contents: String { data["contents"] as? String ?? "" }
}

/// Requests as the extension makes them.
enum BrowserMessage {
  static let origin = "chrome-extension://naepdomgkenhinolocfifgehidddafch/"

  /// Returns a message with the settings that the extension sends.
  static func make(
    _ action: String, store: String, stores: [String: [String: Any]]? = nil,
    origin: String = "https://github.com",
    enableOTP: Bool = false, more: [String: Any] = [:]
  ) -> [UInt8] {
    let own: [String: [String: Any]] = [
      "default": ["id": "default", "name": "pass", "path": store, "settings": [:]]
    ]
    let settings: [String: Any] = [
      "autoSubmit": false, "enableOTP": enableOTP, "gpgPath": "/nonexistent/gpg", "stores": stores ?? own,
      "origin": origin, "tab": ["id": 7, "lastAccessed": 1_795_199_529.25, "mutedInfo": ["muted": false]],
      "recent": ["0a": ["when": 1_795_199_529_000, "count": 3]], "version": 3_001_002,
    ]
    let object = ["settings": settings, "action": action].merging(more) { $1 }
    // The objects consist of strings, numbers and dictionaries.
    return Array((try? JSONSerialization.data(withJSONObject: object)) ?? Data())
  }

  static func frame(_ message: [UInt8]) -> [UInt8] {
    unsafe withUnsafeBytes(of: UInt32(message.count)) { unsafe Array($0) } + message
  }
}

extension CommandFixture {
  /// Runs the host in this process on some input.
  func browser(
    input: [UInt8], arguments: [String] = [BrowserMessage.origin], more: [String: String] = [:]
  ) -> BrowserReply {
    let screen = MemoryOutput()
    return browser(BytesInput(input, isTerminal: false, screen: screen), arguments: arguments, more: more)
  }

  /// Runs the host in this process on an input.
  func browser(
    _ input: any ConsoleInput, arguments: [String] = [BrowserMessage.origin], more: [String: String] = [:]
  ) -> BrowserReply {
    let output = MemoryOutput()
    let talk = MemoryOutput()
    let console = Console(input: input, output: output, talk: talk)
    let status = Program.status(
      of: arguments.map { Word($0) }, calledAs: .browserHost,
      environment: Environment(variables.merging(more) { $1 }),
      console: console, engine: engine)
    return BrowserReply(status: status, output: output.bytes, talk: talk.text)
  }

  /// Sends one request to the host in this process.
  func ask(
    _ action: String, file: String? = nil, contents: String? = nil, stores: [String: [String: Any]]? = nil,
    origin: String = "https://github.com", enableOTP: Bool = false, storeID: String = "default",
    more: [String: String] = [:]
  ) -> BrowserReply {
    var members: [String: Any] = ["storeId": storeID]
    members["file"] = file
    members["contents"] = contents
    let message = BrowserMessage.make(
      action, store: store, stores: stores, origin: origin, enableOTP: enableOTP, more: members)
    return browser(input: BrowserMessage.frame(message), more: more)
  }
}

/// The pipe of a browser that stops in the middle of a request and does not close it.
final class StalledInput: ConsoleInput {
  let isTerminal = false
  private var rest: ArraySlice<UInt8>
  /// The longest times that the host would have waited, in seconds; nil for a wait without a limit.
  private(set) var waits: [Double?] = []

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  func readBytes(count: Int, within seconds: Double?) throws(SecretInputError) -> SecretBytes {
    waits.append(seconds)
    guard rest.count >= count else { throw .timedOut }
    defer { rest = rest.dropFirst(count) }
    return SecretBytes(copying: rest.prefix(count))
  }

  func readSecret(prompt: String, limit: Int) throws(SecretInputError) -> SecretBytes { throw .notATerminal }
  func readLine(unless _: Int32?) throws(SecretInputError) -> String { throw .notATerminal }
  func readProgramLine(limit: Int) throws(SecretInputError) -> SecretBytes? { throw .timedOut }
  func readAll(limit: Int) throws(SecretInputError) -> SecretBytes { throw .timedOut }
}
