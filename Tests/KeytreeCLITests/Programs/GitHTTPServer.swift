import Foundation
import Synchronization

/// A web server with basic authentication in front of git's `http-backend`.
final class GitHTTPServer: Sendable {
  /// The user names and passwords that are accepted.
  let accounts: Accounts
  private let server: HTTPServer

  /// User names and passwords, which a test can change.
  final class Accounts: Sendable {
    private let passwords: Mutex<[String: String]>

    init(_ passwords: [String: String]) { self.passwords = Mutex(passwords) }

    /// Sets the password of a user.
    func set(_ user: String, to password: String) { passwords.withLock { $0[user] = password } }

    /// Returns the user of `USER:PASSWORD` if both are correct.
    func user(_ login: String?) -> String? {
      guard let login else { return nil }
      return passwords.withLock { $0.first { "\($0.key):\($0.value)" == login }?.key }
    }
  }

  /// The path of git's `http-backend`; nil if git was built without it.
  static let backend: String? = {
    guard let folder = RealProgram.output(["git", "--exec-path"]) else { return nil }
    let path = "\(folder)/git-http-backend"
    return FileManager.default.isExecutableFile(atPath: path) ? path : nil
  }()

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - folder: The folder with the repositories.
  ///   - passwords: The user names and passwords that are accepted.
  init(_ folder: String, _ passwords: [String: String]) throws {
    let accounts = Accounts(passwords)
    self.accounts = accounts
    server = try HTTPServer { request in
      guard let user = accounts.user(request.authorization) else { return .unauthorized }
      return Self.run(request, user, folder) ?? HTTPResponse(status: 500)
    }
  }

  /// The host and the port.
  var host: String { server.host }
  /// The logins so far.
  var logins: [String] { server.logins }

  /// The URL of a repository.
  func url(_ name: String, user: String? = nil) -> String {
    "http://\(user.map { "\($0)@" } ?? "")\(host)/\(name)"
  }

  // The CGI variables are those of git-http-backend(1) and RFC 3875.
  private static func run(_ request: HTTPRequest, _ user: String, _ folder: String) -> HTTPResponse? {
    guard let backend else { return nil }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: backend)
    process.environment = [
      "PATH": "/usr/bin:/bin", "GIT_PROJECT_ROOT": folder, "GIT_HTTP_EXPORT_ALL": "1",
      "PATH_INFO": request.path,
      "QUERY_STRING": request.query, "REQUEST_METHOD": request.method, "REMOTE_USER": user,
      "REMOTE_ADDR": "127.0.0.1", "CONTENT_TYPE": request.fields["content-type"] ?? "",
      "CONTENT_LENGTH": String(request.body.count), "GIT_CONFIG_NOSYSTEM": "1", "HOME": folder,
      "HTTP_CONTENT_ENCODING": request.fields["content-encoding"] ?? "",
      "GIT_PROTOCOL": request.fields["git-protocol"] ?? "",
    ]
    let (source, target) = (Pipe(), Pipe())
    process.standardInput = source
    process.standardOutput = target
    process.standardError = FileHandle.nullDevice
    // The requests of the tests fit into a pipe.
    guard (try? process.run()) != nil,
      (try? source.fileHandleForWriting.write(contentsOf: Data(request.body))) != nil,
      (try? source.fileHandleForWriting.close()) != nil
    else { return nil }
    let output = Array(target.fileHandleForReading.readDataToEndOfFile())
    process.waitUntilExit()
    return response(output)
  }

  private static func response(_ output: [UInt8]) -> HTTPResponse? {
    guard let end = output.indices.first(where: { output[$0...].starts(with: "\r\n\r\n".utf8) }) else {
      return nil
    }
    var response = HTTPResponse(body: Array(output[(end + 4)...]))
    for line in String(decoding: output[..<end], as: UTF8.self).components(separatedBy: "\r\n") {
      let parts = line.components(separatedBy: ": ")
      if parts[0] == "Status" {
        response.status = Int(parts[1].prefix(3)) ?? 500
      } else {
        response.fields.append((parts[0], parts[1]))
      }
    }
    return response
  }
}
