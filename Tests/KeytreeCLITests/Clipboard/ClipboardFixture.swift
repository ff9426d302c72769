import Foundation
import Glibc
import TestSupport

@testable import KeytreeCLI

/// A clipboard that is a file, with fake clipboard programs that record their calls.
final class ClipboardFixture {
  let program: ProcessesProgram
  private var folder: String { program.folder }

  /// Makes a store with items, and the programs.
  ///
  /// - Parameter names: The programs to install.
  init(_ items: KeyValuePairs<String, String>, programs names: [String] = ["xclip"]) throws {
    program = try ProcessesProgram.withStore(items)
    try FileManager.default.createDirectory(atPath: "\(folder)/bin", withIntermediateDirectories: false)
    try linkTools()
    for name in names {
      let script = """
        #!/bin/sh
        printf '%s' "\(name)" >> \(folder)/calls
        for word in "$@"; do printf ' %s' "$word" >> \(folder)/calls; done
        echo >> \(folder)/calls
        echo "${TMPDIR-}" >> \(folder)/temporary
        case "$*" in
          *TARGETS*|*--list-types*) cat \(folder)/kinds 2>/dev/null || exit 1; exit 0 ;;
          *-out*|*--no-newline*|*--output*|*Get-Clipboard*) rm \(folder)/failure.* 2>/dev/null && exit 1 ;;
          *--clear*|*--help*) ;;
          *) test ! -e \(folder)/slow || sleep 2 ;;
        esac
        case "$*" in
          *--help*) echo '  --sensitive'; exit 0 ;;
          *-out*|*--no-newline*|*--output*|*Get-Clipboard*) cat \(folder)/content 2>/dev/null || exit 1; exit 0 ;;
          *--clear*) : > \(folder)/content; exit 0 ;;
        esac
        cat > \(folder)/content.new && mv \(folder)/content.new \(folder)/content

        """
      try ExecutableFile.write(script, to: "\(folder)/bin/\(name)")
    }
  }

  /// Links the other programs that are needed into a separate folder, so that the real clipboard programs of this
  /// machine are not found.
  private func linkTools() throws {
    try FileManager.default.createDirectory(atPath: "\(folder)/tools", withIntermediateDirectories: false)
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    for name in ["gpg", "gpgconf", "gpg-agent", "git", "cat", "mv", "rm", "sleep"] {
      for place in path.split(separator: ":") where unsafe access("\(place)/\(name)", X_OK) == 0 {
        try FileManager.default.createSymbolicLink(
          atPath: "\(folder)/tools/\(name)", withDestinationPath: "\(place)/\(name)")
        break
      }
    }
  }

  /// The variables that make the command find the programs.
  func variables(_ session: [String: String] = ["DISPLAY": ":77"]) -> [String: String] {
    session.merging(["PATH": "\(folder)/bin:\(folder)/tools"]) { $1 }
  }

  /// Runs the command until it has ended and closed each of its streams.
  func run(
    _ arguments: String..., session: [String: String] = ["DISPLAY": ":77"], tracer: [String] = []
  ) throws -> ProcessesProgram.Outcome {
    try program.run(arguments, tracer: tracer, variables: variables(session))
  }

  /// The content of the clipboard.
  var content: [UInt8]? {
    get { FileManager.default.contents(atPath: "\(folder)/content").map { Array($0) } }
    set {
      _ = FileManager.default.createFile(atPath: "\(folder)/content", contents: newValue.map { Data($0) })
    }
  }

  /// The calls of the programs, one per line.
  var calls: [String] {
    let text = try? String(contentsOfFile: "\(folder)/calls", encoding: .utf8)
    return (text ?? "").split(separator: "\n").map(String.init)
  }

  /// A fault of the programs.
  enum Trouble: String {
    /// The next read of the clipboard fails.
    case failure = "failure.1"
    /// Copying takes two seconds.
    case slow
  }

  /// Makes a fault happen.
  func make(_ trouble: Trouble) { write("", to: trouble.rawValue) }

  /// Sets the content types that the programs report.
  func setKinds(_ kinds: String) { write(kinds, to: "kinds") }

  /// The folders for temporary files that were passed to the programs.
  var temporaryFolders: Set<String> {
    let text = try? String(contentsOfFile: "\(folder)/temporary", encoding: .utf8)
    return Set(
      (text ?? "").split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init))
  }

  private func write(_ text: String, to name: String) {
    _ = FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: Data(text.utf8))
  }

  /// Makes every read of the clipboard fail.
  func removeContent() { try? FileManager.default.removeItem(atPath: "\(folder)/content") }

  /// Waits until a condition is true.
  func wait(for what: String, _ isTrue: () -> Bool) throws {
    for _ in 0..<600 {
      if isTrue() { return }
      usleep(50_000)
    }
    throw ProcessesFailure(description: "waited in vain for \(what); calls: \(calls)")
  }
}
