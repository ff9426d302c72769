import Foundation

/// A pinentry in a dozen lines of shell. It answers OK to every command and with fixed lines to a request for a PIN,
/// and records each request.
package final class Pinentry: Sendable {
  /// The program, for `pinentry-program` in gpg-agent.conf.
  package let program: String
  private var log: String { program + ".asked" }

  /// Writes the program, which is removed when this object is released.
  ///
  /// - Parameters:
  ///   - answer: The lines of the answer to a request for a PIN.
  ///   - confirmation: The answer to a question.
  ///   - waits: True if it shows its dialogs until it is ended, or until ``finish()`` if it has an answer.
  ///   - waitsToConfirm: True if it shows questions until it is ended.
  package init(
    answering answer: String, confirming confirmation: String = "OK", waits: Bool = false,
    waitsToConfirm: Bool = false
  ) throws {
    program = "/tmp/ktpin\(UInt32.random(in: 0 ... .max))"
    var lines = answer.split(separator: "\n").map { "echo '\($0)'" }.joined(separator: "; ")
    // The pipe has no writer, so this lasts until the process is ended.
    let wait = "read -r line <'\(program).pipe'"
    if waits { lines = lines.isEmpty ? wait : "\(wait); \(lines)" }
    let script = """
      #!/bin/sh
      echo 'OK ready'
      while read -r command rest; do
        case "$command" in
          GETPIN) echo asked >> '\(program).asked'; \(lines) ;;
          CONFIRM) echo confirm >> '\(program).asked'; \(waits || waitsToConfirm ? wait : "echo '\(confirmation)'") ;;
          SETDESC) echo "$rest" >> '\(program).descriptions'; echo OK ;;
          GETINFO) echo "D $$"; echo OK ;;
          BYE) echo OK; exit 0 ;;
          *) echo OK ;;
        esac
      done

      """
    try ExecutableFile.write(script, to: program)
    if waits || waitsToConfirm, unsafe mkfifo(program + ".pipe", 0o600) != 0 { throw POSIXError(.EIO) }
  }

  /// Writes a pinentry that knows the passphrase of `GnuPGKey.locked`.
  package static func answering() throws -> Pinentry {
    try Pinentry(answering: "D \(GnuPGKey.passphrase)\nOK")
  }

  /// Writes a pinentry that reports that the user cancelled.
  package static func cancelling() throws -> Pinentry {
    try Pinentry(answering: "ERR 83886179 Operation cancelled <Pinentry>")
  }

  /// Lets a dialog that waits be answered.
  package func finish() throws {
    let pipe = unsafe open(program + ".pipe", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
    guard pipe >= 0 else { throw POSIXError(.ENXIO) }
    defer { close(pipe) }
    guard unsafe write(pipe, "\n", 1) == 1 else { throw POSIXError(.EIO) }
  }

  /// The texts of the dialogs so far, with their escapes.
  package var descriptions: [String] {
    // The log does not exist before the first dialog.
    guard let data = FileManager.default.contents(atPath: program + ".descriptions") else { return [] }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// The number of requests for a PIN and of questions so far.
  package var count: Int {
    // The log does not exist before the first request.
    guard let data = FileManager.default.contents(atPath: log) else { return 0 }
    return data.count { $0 == UInt8(ascii: "\n") }
  }

  deinit {
    // Files in /tmp that cannot be removed do no harm.
    for path in [program, log, program + ".pipe", program + ".descriptions"] {
      try? FileManager.default.removeItem(atPath: path)
    }
  }
}
