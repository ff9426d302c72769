import Foundation

/// A dialog for passphrases in a dozen lines of shell: it says OK to everything, one thing to the question for a PIN,
/// and notes how often that was asked.
package final class Pinentry: Sendable {
  /// The program, for `pinentry-program` in gpg-agent.conf.
  package let program: String
  private var log: String { program + ".asked" }

  /// Writes the program; it is removed when the object goes.
  ///
  /// - Parameter answer: The lines that it says when it is asked for a PIN.
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

  /// Writes one that knows the passphrase of `GnuPGKey.locked`.
  package static func answering() throws -> Pinentry {
    try Pinentry(answering: "D \(GnuPGKey.passphrase)\nOK")
  }

  /// Writes one that is cancelled by the person.
  package static func cancelling() throws -> Pinentry {
    try Pinentry(answering: "ERR 83886179 Operation cancelled <Pinentry>")
  }

  /// How often it was asked so far.
  package var count: Int {
    // Not there before the first question.
    guard let data = FileManager.default.contents(atPath: log) else { return 0 }
    return data.count { $0 == UInt8(ascii: "\n") }
  }

  deinit {
    // Files in /tmp that nobody can do anything about.
    for path in [program, log] { try? FileManager.default.removeItem(atPath: path) }
  }
}
