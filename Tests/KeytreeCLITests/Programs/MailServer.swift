import Foundation
import Synchronization

/// A test mail server that supports as much of SMTP or IMAP as a login needs, and accepts every login.
final class MailServer: Sendable {
  private let server: LoopbackServer
  private let log: Log

  private final class Log: Sendable { let logins = Mutex<[String]>([]) }

  private init(_ speak: @escaping @Sendable (LoopbackConnection, (String) -> Void) -> Void) throws {
    let log = Log()
    self.log = log
    server = try LoopbackServer { connection in
      speak(connection) { login in log.logins.withLock { $0.append(login) } }
    }
  }

  /// The port on which the server listens.
  var port: Int { server.port }
  /// The credentials of the logins: for SMTP the decoded words of `PLAIN`, for IMAP the arguments of `LOGIN`.
  var logins: [String] { log.logins.withLock { $0 } }

  /// Returns a server that accepts mail (RFC 5321, RFC 4954).
  static func smtp() throws -> MailServer {
    try MailServer { connection, note in
      connection.say("220 test")
      while let line = connection.readLine() {
        let verb = line.uppercased()
        if verb.hasPrefix("EHLO") {
          connection.say("250-test")
          connection.say("250 AUTH PLAIN")
        } else if verb.hasPrefix("AUTH PLAIN") {
          let words = Data(base64Encoded: String(line.dropFirst("AUTH PLAIN ".count))) ?? Data()
          note(String(decoding: words, as: UTF8.self))
          connection.say("235 welcome")
        } else if verb == "DATA" {
          connection.say("354 go on")
          while let text = connection.readLine(), text != "." {}
          connection.say("250 taken")
        } else {
          connection.say(verb == "QUIT" ? "221 bye" : "250 well")
          if verb == "QUIT" { return }
        }
      }
    }
  }

  /// Returns a server with one empty mailbox (RFC 3501).
  static func imap() throws -> MailServer {
    try MailServer { connection, note in
      connection.say("* OK [CAPABILITY IMAP4rev1] test")
      while let line = connection.readLine() {
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count > 1 else { return }
        switch words[1].uppercased() {
        case "LOGIN": note(words.count > 2 ? String(words[2]) : "")
        case "LIST": connection.say("* LIST () \"/\" INBOX")
        case "SELECT":
          for answer in ["0 EXISTS", "0 RECENT", "OK [UIDVALIDITY 1] well", "OK [UIDNEXT 1] well"] {
            connection.say("* \(answer)")
          }
        case "LOGOUT": connection.say("* BYE")
        default: break
        }
        connection.say("\(words[0]) OK done")
        // The client waits for the server to close the connection.
        if words[1].uppercased() == "LOGOUT" { return }
      }
    }
  }
}
