import Arguments
import Foundation
import Testing

@Suite("Completion scripts", .serialized)
struct CompletionTests {
  @Test("bash accepts the script", .enabled(if: ProcessRunner.isInstalled("bash"), "bash is not installed"))
  func bashSyntax() throws { try accepts(.bash) }

  @Test("zsh accepts the script", .enabled(if: ProcessRunner.isInstalled("zsh"), "zsh is not installed"))
  func zshSyntax() throws { try accepts(.zsh) }

  @Test("fish accepts the script", .enabled(if: ProcessRunner.isInstalled("fish"), "fish is not installed"))
  func fishSyntax() throws { try accepts(.fish) }

  private func accepts(_ shell: CompletionScript.Shell) throws {
    let path = try #require(ProcessRunner.locate(shell.rawValue))
    let script = CompletionScript.text(for: shell, Sample.program)
    let (output, status) = try ProcessRunner.withFile(script, named: "script") { file in
      try ProcessRunner.run(path, ["-n", file])
    }
    #expect(status == 0, "\(output)")
  }

  /// A stand-in for the program. The names of its items would do harm if a shell expanded them.
  private let harmful = """
    tool() { :; }
    # The prefix is the last argument.
    command() {
      printf 'github.com/alice\\ngit$(touch HARM)/x y\\n' | while IFS= read -r name; do
        [[ $name == "${@: -1}"* ]] && printf '%s\\n' "$name"
      done
    }
    """

  @Test(
    "zsh can source the script with and without its completion system",
    .enabled(if: ProcessRunner.isInstalled("zsh"), "zsh is not installed"),
    arguments: ["", "autoload -Uz compinit && compinit -D -i\n"])
  func zsh(before: String) throws {
    let path = try #require(ProcessRunner.locate("zsh"))
    let script = CompletionScript.text(for: .zsh, Sample.program)
    let (output, _) = try ProcessRunner.withFile(script, named: "script") { file in
      let folder = String(file.dropLast("/script".count))
      let line = "ZDOTDIR='\(folder)'; \(before)source '\(file)'; print -- ${_comps[tool]}\n"
      return try ProcessRunner.run(path, ["-f"], input: line)
    }
    #expect(output == "_tool\n")
  }

  @Test(
    "the script completes in bash", .enabled(if: ProcessRunner.isInstalled("bash"), "bash is not installed"),
    arguments: [
      (["tool", "re"], ["remove"]),
      (["tool", "n"], []),
      (["tool", "add", "--ac"], ["--account"]),
      (["tool", "new", "--ac"], ["--account"]),
      (["tool", "add", "--account", "bob", "gith"], ["github.com/alice"]),
      (["tool", "--store", "d", "remove", "x", "gith"], ["github.com/alice"]),
      (["tool", "import", ""], ["csv", "pass"]),
      (["tool", "import", "pass", "--st"], ["--store"]),
      (["tool", "shell", "f"], ["fish"]),
      (["tool", "remove", "git$"], [#"git\$\(touch\ HARM\)/x\ y"#]),
      (["tool", "dri"], []),
    ] as [([String], [String])])
  func bash(words: [String], offered: [String]) throws {
    let path = try #require(ProcessRunner.locate("bash"))
    let script =
      CompletionScript.text(for: .bash, Sample.program) + harmful + """

        cd "$1"
        COMP_LINE='\(words.joined(separator: " "))'; COMP_POINT=${#COMP_LINE}
        _tool tool '\(words.last ?? "")'
        ((${#COMPREPLY[@]})) && printf '%s\\n' "${COMPREPLY[@]}"
        [[ ! -e HARM ]] || echo harmed
        """
    let (output, _) = try ProcessRunner.withFile("", named: "marker") { file in
      let folder = String(file.dropLast("/marker".count))
      return try ProcessRunner.run(path, ["--norc", "-s", "--", folder], input: script)
    }
    #expect(output.split(separator: "\n").map(String.init) == offered)
  }

  @Test(
    "the script completes in fish", .enabled(if: ProcessRunner.isInstalled("fish"), "fish is not installed"),
    arguments: [
      ("tool re", ["remove"]), ("tool add --acc", ["--account"]), ("tool import ", ["csv", "pass"]),
      ("tool shell f", ["fish"]), ("tool dri", []),
      // Neither files, nor what `tool add` takes.
      ("tool add x --account ", []), ("tool otp add ", []), ("tool otp add --acc", []),
    ])
  func fish(line: String, offered: [String]) throws {
    let path = try #require(ProcessRunner.locate("fish"))
    let script = CompletionScript.text(for: .fish, Sample.program) + "complete -C '\(line)'\n"
    let (output, _) = try ProcessRunner.run(path, ["--no-config"], input: script, withErrors: false)
    let words = output.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
    #expect(words == offered)
  }
}

@Suite("The manual page", .serialized)
struct ManualPageTests {
  private let page = ManualPage(Sample.program, version: "1.2").text()

  @Test(
    "groff accepts the page without a warning and shows its content",
    .enabled(if: ProcessRunner.isInstalled("groff"), "groff is not installed"),
    .enabled(if: ProcessRunner.isInstalled("col"), "col (bsdextrautils) is not installed"))
  func groff() throws {
    let path = try #require(ProcessRunner.locate("groff"))
    var plain = ""
    let pages = ManualPage(Sample.program, version: "1.2")
    for page in [page] + Sample.program.visibleCommands.map(pages.text) {
      let (output, status) = try ProcessRunner.withFile(page, named: "tool.1") { file in
        try ProcessRunner.run(path, ["-ww", "-man", "-Tascii", "-P-c", file])
      }
      #expect(status == 0)
      #expect(!output.contains("warning"), "\(output)")
      plain += try ProcessRunner.run("/usr/bin/col", ["-b"], input: output).0
    }
    for text in ["tool - a tool", "--generate[=N]", "import csv", "$ tool add x", "the tool's \"folder\""] {
      #expect(plain.contains(text), "\(text)")
    }
  }

  @Test("text that roff would interpret is escaped")
  func escaping() {
    #expect(page.contains("tool\\-add"))
    let tricky = ProgramDeclaration(
      name: "t", summary: #".so \x"#, globals: [], commands: [], exitCodes: [.init(0, ".so /etc/passwd")])
    let text = ManualPage(tricky, version: "1").text()
    #expect(text.contains("\\&.so /etc/passwd"))
    #expect(text.contains("\\e"))
    #expect(!text.contains("\n.so"))
  }
}
