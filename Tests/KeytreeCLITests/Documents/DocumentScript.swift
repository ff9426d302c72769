import Foundation
import TestSupport

/// The shell blocks of a document, and what the test must know to run them.
///
/// That is in `fixtures/documents/NAME.txt`, in the form of a `Transcript`:
///
///     @ person bob               the shell of bob from here on, in a home of his own; the first person is alice
///     ! keytree init             a line for bash that the document does not show
///     @ skip needs root          the next block is not run, for this reason
///     @ needs pip                the next block is run only if this program is installed
///     $ keytree add github.com   the first line of a block of the document; the block is run as it is
///     < hunter2                  the answer to the next prompt of the block
///     Added                      a line of output that contains this text
///     ? 13                       the exit code of the block; 0 when it is missing
///
/// The file has exactly the blocks of the document, in their order. A document without such a file has no blocks.
struct DocumentScript {
  /// A difference between a document and its file.
  struct Mismatch: Error { let reason: String }

  /// One block, or lines for bash that the document does not show.
  struct Part {
    let step: Transcript.Step
    /// The text for bash.
    let text: String
    var person: String?
    var skipReason: String?
    var program: String?
  }

  let parts: [Part]

  /// Reads a document and its file.
  ///
  /// - Throws: `Mismatch` if they do not have the same blocks.
  init(of document: String) throws {
    let name = URL(fileURLWithPath: document).deletingPathExtension().lastPathComponent
    let file = MarkdownDocument.root.appendingPathComponent("fixtures/documents/\(name).txt")
    // A document without a file must have no blocks, which is checked below.
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    try self.init(blocks: try MarkdownDocument(document).blocks("sh"), script: Transcript(parsing: text))
  }

  /// Combines blocks with a script.
  init(blocks: [[String]], script: Transcript) throws {
    var rest = blocks[...]
    parts = try script.steps.map { step in
      var text = step.line
      if !step.isShell {
        guard let block = rest.popFirst(), block.first == step.line else {
          throw Mismatch(reason: "line \(step.number): this is not the next block: \(step.line)")
        }
        text = block.joined(separator: "\n")
      }
      // Otherwise a block that fails for another reason, such as a missing program, would pass.
      guard step.exitCode == 0 || !step.output.lines.isEmpty else {
        throw Mismatch(reason: "line \(step.number): a block that fails needs a line of its output")
      }
      var part = Part(step: step, text: text)
      for line in step.preamble where line.hasPrefix("@ ") {
        let words = line.dropFirst(2).split(separator: " ", maxSplits: 1).map(String.init)
        switch (words.first, words.dropFirst().first) {
        case ("person", let name?): part.person = name
        case ("skip", let reason?): part.skipReason = reason
        case ("needs", let program?): part.program = program
        default: throw Mismatch(reason: "line \(step.number): unknown directive: \(line)")
        }
      }
      return part
    }
    if let block = rest.first { throw Mismatch(reason: "no line for the block: \(block.first ?? "")") }
  }
}
