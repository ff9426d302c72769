import Foundation
import TestSupport
import Testing

/// Runs the shell blocks of the documents as they are written. `DocumentScript` describes the files that the test reads.
@Suite("The shell in the documents", .serialized, .slow)
struct DocumentShellTests {
  @Test("every shell block of a document runs as it is written", arguments: MarkdownDocument.names)
  func runs(document: String) throws {
    let script = try DocumentScript(of: document)
    guard !script.parts.isEmpty else { return }
    try DocumentSandbox().run(script)
  }

  @Test func `every file is for a document`() throws {
    let folder = MarkdownDocument.root.appendingPathComponent("fixtures/documents").path
    let documents = MarkdownDocument.names.map {
      URL(fileURLWithPath: $0).deletingPathExtension().lastPathComponent + ".txt"
    }
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      #expect(documents.contains(name), "\(name)")
    }
  }

  @Test("every code block of a document has a language", arguments: MarkdownDocument.names)
  func languages(document: String) throws {
    // The synopses of this page have none. It is written by `keytree help --markdown`.
    guard !document.contains("CommandReference") else { return }
    let fences = try MarkdownDocument(document).lines.filter { $0.hasPrefix("```") }
    for fence in fences.enumerated().filter({ $0.offset.isMultiple(of: 2) }).map(\.element) {
      #expect(["sh", "console", "swift", "json", "toml", "text"].contains(fence.dropFirst(3)), "\(fence)")
    }
  }

  @Test(
    "a document and its file have the same blocks",
    arguments: [
      ("$ echo a\n", [["echo a"], ["echo b"]]), ("$ echo a\n\n$ echo b\n", [["echo a"]]),
      ("$ echo b\n", [["echo a"]]), ("@ skip\n$ echo a\n", [["echo a"]]), ("", [["echo a"]]),
      ("$ false\n? 1\n", [["false"]]),
    ])
  func mismatches(file: String, blocks: [[String]]) throws {
    let script = try Transcript(parsing: file)
    #expect(throws: DocumentScript.Mismatch.self) { try DocumentScript(blocks: blocks, script: script) }
  }

  @Test(
    "a block that does not work is reported",
    arguments: [
      ("$ false\n", "exit code 1"), ("$ echo a\na\n? 13\n", "exit code 99"),
      ("$ true\n< x\n", "an answer without a prompt"),
      ("$ read -rp 'Name: '\n", "a prompt without an answer"), ("$ echo a\nb\n", "no output b"),
      ("! false\n\n$ true\n", "exit code 1"), ("$ exit\n\n$ true\n", "exit code 0"),
    ])
  func reports(file: String, reason: String) throws {
    let script = try Transcript(parsing: file)
    let blocks = script.steps.filter { !$0.isShell }.map { [$0.line] }
    let error = #expect(throws: DocumentSandbox.Failure.self) {
      try DocumentSandbox().run(DocumentScript(blocks: blocks, script: script))
    }
    #expect(error?.reason == reason)
  }

  @Test func `a block that works is not reported`() throws {
    let script = try Transcript(
      parsing:
        "! x=1\n\n$ read -rp 'Name: ' name; echo $name$x\n< a\na1\n\n@ person bob\n$ pwd; exit 13\n/bob\n? 13\n"
    )
    let blocks = script.steps.filter { !$0.isShell }.map { [$0.line] }
    try DocumentSandbox().run(DocumentScript(blocks: blocks, script: script))
  }
}
