import Foundation

/// A pinentry in a dozen lines of shell. It answers OK to every command and with fixed lines to a request for a PIN,
/// and records each request.
package final class Pinentry: Sendable {
  /// The program, for `pinentry-program` in gpg-agent.conf.
  package let program: String
  private var log: String { program + ".asked" }

  /// Writes the program, which is removed when this object is released.
  ///
  /// - Parameter answer: The lines of the answer to a request for a PIN.
  package init(answering answer: String) throws {
    program = "/tmp/ktpin\(UInt32.random(in: 0 ... .max))"
    let lines = answer.split(separator: "\n").map { "echo '\($0)'" }.joined(separator: "; ")
    let script = """
      #!/bin/sh
      echo 'OK ready'
      while read -r command rest; do
        case "$command" in
          GETPIN) echo asked >> '\(program).asked'; \(lines) ;;
          GETINFO) echo "D $$"; echo OK ;;
          BYE) echo OK; exit 0 ;;
          *) echo OK ;;
        esac
      done

      """
    try ExecutableFile.write(script, to: program)
  }

  /// Writes a pinentry that knows the passphrase of `GnuPGKey.locked`.
  package static func answering() throws -> Pinentry {
    try Pinentry(answering: "D \(GnuPGKey.passphrase)\nOK")
  }

  /// Writes a pinentry that reports that the user cancelled.
  package static func cancelling() throws -> Pinentry {
    try Pinentry(answering: "ERR 83886179 Operation cancelled <Pinentry>")
  }

  /// The number of requests for a PIN so far.
  package var count: Int {
    // The log does not exist before the first request.
    guard let data = FileManager.default.contents(atPath: log) else { return 0 }
    return data.count { $0 == UInt8(ascii: "\n") }
  }

  deinit {
    // Files in /tmp that cannot be removed do no harm.
    for path in [program, log] { try? FileManager.default.removeItem(atPath: path) }
  }
}
