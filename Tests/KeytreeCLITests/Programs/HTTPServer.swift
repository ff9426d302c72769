import Foundation
import Synchronization

/// A request to a test server.
struct HTTPRequest: Sendable {
  let method: String
  let path: String
  /// The part of the URL after `?`.
  let query: String
  /// The header fields, with lower-case names.
  let fields: [String: String]
  let body: [UInt8]

  /// The value of the header field `Authorization`; for basic authentication `USER:PASSWORD`.
  var authorization: String? {
    guard let field = fields["authorization"] else { return nil }
    guard field.hasPrefix("Basic "), let data = Data(base64Encoded: String(field.dropFirst(6))) else {
      return field
    }
    return String(decoding: data, as: UTF8.self)
  }
}

/// The response of a test server.
struct HTTPResponse: Sendable {
  var status = 200
  var fields: [(name: String, value: String)] = []
  var body: [UInt8] = []

  /// Returns a response with a text.
  static func text(_ text: String, type: String = "text/plain") -> HTTPResponse {
    HTTPResponse(fields: [("Content-Type", type)], body: Array(text.utf8))
  }

  /// The response to a request without valid credentials.
  static let unauthorized = HTTPResponse(
    status: 401, fields: [("WWW-Authenticate", "Basic realm=\"test\"")])
}

/// A web server for tests.
final class HTTPServer: Sendable {
  private let server: LoopbackServer
  private let log: Log

  private final class Log: Sendable { let requests = Mutex<[HTTPRequest]>([]) }

  /// Starts a server.
  ///
  /// - Parameter answer: Returns the response to a request.
  init(_ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse) throws {
    let log = Log()
    self.log = log
    server = try LoopbackServer { connection in
      guard let request = Self.read(connection) else { return }
      log.requests.withLock { $0.append(request) }
      let response = answer(request)
      connection.say("HTTP/1.1 \(response.status) Answer")
      for (name, value) in response.fields { connection.say("\(name): \(value)") }
      connection.say("Content-Length: \(response.body.count)")
      connection.say("Connection: close")
      connection.say("")
      if request.method != "HEAD" { connection.write(response.body) }
    }
  }

  /// The port on which the server listens.
  var port: Int { server.port }
  /// The host and the port.
  var host: String { "127.0.0.1:\(port)" }
  /// All requests so far.
  var requests: [HTTPRequest] { log.requests.withLock { $0 } }
  /// The logins so far, in order. Consecutive equal ones are listed once.
  var logins: [String] {
    requests.compactMap(\.authorization).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
  }

  private static func read(_ connection: LoopbackConnection) -> HTTPRequest? {
    guard let words = connection.readLine()?.split(separator: " "), words.count == 3 else { return nil }
    var fields: [String: String] = [:]
    while let line = connection.readLine(), !line.isEmpty {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { return nil }
      fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
    }
    if fields["expect"] == "100-continue" {
      connection.say("HTTP/1.1 100 Continue")
      connection.say("")
    }
    var body: [UInt8] = []
    if fields["transfer-encoding"] == "chunked" {
      while let size = connection.readLine().flatMap({ Int($0, radix: 16) }) {
        body += connection.read(size)
        _ = connection.readLine()
        if size == 0 { break }
      }
    } else if let length = fields["content-length"].flatMap({ Int($0) }) {
      body = connection.read(length)
    }
    let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    return HTTPRequest(
      method: String(words[0]), path: String(target[0]), query: target.count > 1 ? String(target[1]) : "",
      fields: fields, body: body)
  }
}
