import Arguments
import Foundation
import Testing

@Suite("Help texts", .serialized)
struct HelpTextTests {
  @Test("help shows everything that a declaration contains")
  func command() {
    let text = HelpText(Sample.program, width: 60).command([Sample.add])
    #expect(
      text == """
        tool add: store a secret

        Usage: tool add [OPTIONS] ITEM [N]
        Also:  tool new

        The program prompts for it.

        Operands:
          ITEM  the item
          N     a number

        Options:
              --generate[=N]  make the secret
              --limit N|all   at most N
              --clear NAME    remove it's [old]: value

        Attributes:
          -a, --account NAME  the account
          -s NAME             server or service

        Options of every command:
              --store DIR  the store
              --json       print JSON
          -h, --help       explain

        Examples:
          $ tool add x
              adds it

        Exit codes:
          0  done
          1  failure
          2  usage
          5  exists

        """)
  }

  @Test("the synopsis lists every way to call a command with subcommands")
  func synopsis() {
    let help = HelpText(Sample.program, width: 80)
    #expect(help.synopsis([Sample.importCommand]) == ["tool import csv FILE", "tool import pass"])
    #expect(help.synopsis([Sample.otp]) == ["tool otp ITEM", "tool otp add"])
  }

  @Test("hidden commands are left out", arguments: [40, 80, 200])
  func overview(width: Int) {
    let text = HelpText(Sample.program, width: width).overview()
    #expect(text.contains("remove items"))
    #expect(!text.contains("driver"))
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= max(width, 60) })
  }

  @Test("the screen has each visible command once, and those without a topic at the end")
  func screen() {
    let program = ProgramDeclaration(
      name: "tool", summary: "a tool", globals: Sample.program.globals,
      commands: Sample.program.commands.map { CommandEntry($0) },
      topics: [CommandTopic("Daily", ["remove", "add", "driver"]), CommandTopic("Rare", ["driver"])],
      exitCodes: [])
    #expect(
      HelpText(program, width: 80).screen() == """
        tool: a tool

        Usage: tool COMMAND [OPTIONS] [OPERANDS]

          Daily  remove, add
          Other  import, otp, shell

        Options of every command:
          --store DIR, --json, --help

        `tool help` explains all commands, `tool help COMMAND` one of them.

        """)
  }

  @Test("the reference has a section for each command and escapes what Markdown interprets")
  func reference() {
    let strange = CommandDeclaration(
      name: "x", summary: "read <a> [b] of `c_d*`", options: [Sample.clear],
      examples: [Example("tool x", "works")])
    let program = ProgramDeclaration(
      name: "tool", summary: "a tool", globals: [Sample.json],
      commands: [Sample.otp, Sample.hidden, strange].map { CommandEntry($0) },
      exitCodes: [.init(0, "done")], variables: [.init("TOOL", "the folder")])
    #expect(
      CommandReference(program).text().components(separatedBy: "Commands: `otp`, `x`.\n").last == """

        ## otp

        Print a code.

        ```
        tool otp ITEM
        ```

        - `ITEM`: the item.

        ### otp add

        Store a seed.

        ```
        tool otp add
        ```

        ## x

        Read \\<a\\> \\[b\\] of `c_d*`.

        ```
        tool x [OPTIONS]
        ```

        Options:

        - `--clear NAME`: remove it's \\[old\\]: value.

        Examples:

        - `tool x` works.

        ## Options of every command

        - `--json`: print JSON.

        ## Environment

        - `TOOL`: the folder.

        ## Exit codes

        | code | meaning |
        | --- | --- |
        | 0 | done |

        """)
  }

  @Test("text wraps between words and a word is never cut")
  func wrapping() {
    let long = CommandDeclaration(
      name: "x", summary: "y",
      details: [
        "one two three four five six seven eight nine ten aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b"
      ])
    let text = HelpText(Sample.program, width: 40).command([long])
    #expect(text.contains("\none two three four five six seven eight\nnine ten\n"))
    #expect(text.contains("\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\nb\n"))
  }
}
