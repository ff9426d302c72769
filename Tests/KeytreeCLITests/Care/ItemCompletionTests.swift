import Arguments
import CommandSupport
import Foundation
import KeytreeCLI
import TestSupport
import Testing

/// The built program's completion scripts, with the names of items from a store.
@Suite("Completion of items", .serialized)
struct ItemCompletionTests {
  /// Returns an environment with the program in its search path, and a store with three items.
  private func prepare() throws -> (MaintenanceFixture, environment: [String: String]) {
    let world = try MaintenanceFixture()
    world.run("init", "--no-git")
    for name in ["github.com/alice", "github.com/bob", "generic:mailer/bot"] {
      #expect(world.run("add", name, input: [1]).code == .done)
    }
    #expect(world.run("group", "create", "ops").code == .done)
    let programs = world.scratch.path + "/bin"
    try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: programs + "/keytree", withDestinationPath: BuiltProgram.path)
    world.variables["PATH"] = programs + ":" + (world.variables["PATH"] ?? "")
    return (world, world.variables)
  }

  private func run(_ shell: String, _ arguments: [String], _ environment: [String: String]) throws -> [String]
  {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [shell] + arguments
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private static func isInstalled(_ shell: String) -> Bool {
    ["/bin/", "/usr/bin/"].contains { FileManager.default.isExecutableFile(atPath: $0 + shell) }
  }

  @Test("completion works in bash", .enabled(if: isInstalled("bash"), "bash is not installed"))
  func bash() throws {
    let (world, environment) = try prepare()
    defer { withExtendedLifetime(world) {} }
    let script = """
      source <(keytree completions bash)
      try() { COMP_LINE=$1 COMP_POINT=${#1}; _keytree keytree "$2"; printf '%s\\n' "${COMPREPLY[@]}"; }
      try 'keytree get git' git; try 'keytree tru' tru; try 'keytree import c' c
      try 'keytree import --group=x c' c; try 'keytree resolve --keep=c' c
      try 'keytree add x -g o' o; try 'keytree group show ' ''
      """
    let offered = try run("bash", ["--norc", "-c", script], environment)
    #expect(
      offered == [
        "github.com/alice", "github.com/bob", "trust", "csv", "csv", "copy", "ops", "default", "ops",
      ])
  }

  /// Names that a shell could misinterpret, in the form that `find` shows.
  static let hostile = [
    "localhost:8080/alice", "my host/a b", "it's/\"x\"", "$(touch PWNED)/`touch PWNED`", "a;b&c|d/*", "~/x",
    "é:é/ü", "x/--y", "back\\slash/x", "j@example.org/x", "k=l=m/n", "{p,q}/[r]", "#s/!t", "u<v>/(w)",
    "%o/^z",
    "q\\r@s=t:u v'w\"/$z",
  ]

  @Test(
    "completion keeps hostile names intact in bash",
    .enabled(if: isInstalled("bash"), "bash is not installed"))
  func hostileBash() throws {
    let (world, environment) = try prepare()
    for name in Self.hostile + ["new\nline/x"] {
      let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
      #expect(world.run("add", "--server", parts[0], "-a", parts[1], input: [1]).code == .done)
    }
    // The shell evaluates each completed word again, as it does after the user has accepted it.
    let script = """
      cd "$HOME"; source <(keytree completions bash)
      COMP_LINE='keytree otp ' COMP_POINT=12; _keytree keytree ''
      for word in "${COMPREPLY[@]}"; do eval "printf '%s\\n' $word"; done; echo ---
      # The second word is the end of the line that readline replaces.
      try() { COMP_LINE=$1 COMP_POINT=${#1}; _keytree keytree "$2"; printf '%s\\n' "${COMPREPLY[@]:-none}"; }
      try 'keytree get localhost:80' 80; try 'keytree get localhost:' ''; try 'keytree get localhost\\:80' 'localhost\\:80'
      try 'keytree get my\\ h' 'my\\ h'; try 'keytree rm localhost:8080/alice my' my; try 'keytree get j@ex' @ex
      try 'keytree get k=l=' ''; try 'keytree get back\\' 'back\\'
      for word in "'my h" '"my x' "'localhost:8" "'it" '"it' '"#s'; do try "keytree get $word" "${word#?}"; done
      # bash would expand what was typed.
      try 'keytree get "$(t' '$(t'; try 'keytree get $(t' '$(t'; try "keytree get '\\$(t" '$(t'
      """
    let offered = try run("bash", ["--norc", "-c", script], environment)
    let end = try #require(offered.firstIndex(of: "---"))
    let known = Self.hostile + ["github.com/alice", "github.com/bob", "mailer/bot", "add"]
    #expect(Set(offered[..<end]) == Set(known), "\(offered)")
    #expect(
      Array(offered[(end + 1)...])
        == [
          "8080/alice", "8080/alice", "localhost\\:8080/alice", "my\\ host/a\\ b", "my\\ host/a\\ b",
          "@example.org/x", "m/n", "back\\\\slash/x",
          // After a quotation mark.
          "my host/a b", "none", "localhost:8080/alice", "it'\\''s/\"x\"", "it's/\\\"x\\\"\"", "#s/\"\\!\"t",
          "\\$(touch PWNED)/\\`touch PWNED\\`", "\\$\\(touch\\ PWNED\\)/\\`touch\\ PWNED\\`",
          "$(touch PWNED)/`touch PWNED`",
        ])
    #expect(!FileManager.default.fileExists(atPath: world.scratch.path + "/PWNED"))
  }

  @Test(
    "completion keeps hostile names intact in fish",
    .enabled(if: isInstalled("fish"), "fish is not installed"))
  func hostileFish() throws {
    let (world, environment) = try prepare()
    for name in Self.hostile {
      let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
      #expect(world.run("add", "--server", parts[0], "-a", parts[1], input: [1]).code == .done)
    }
    let script = "cd $HOME; keytree completions fish | source; complete -C 'keytree otp '"
    let offered = try run("fish", ["--no-config", "-c", script], environment)
    let words = offered.map { $0.split(separator: "\t").first.map(String.init) ?? "" }
    for name in Self.hostile { #expect(words.contains(name), "\(words)") }
    #expect(words.contains("add"))
    #expect(!FileManager.default.fileExists(atPath: world.scratch.path + "/PWNED"))
  }

  /// Returns the beginnings of a command line's word that a user could type for the beginning of a name: bare, in single
  /// and in double quotes.
  private static func typed(_ text: String, in shell: String) -> [String] {
    func escaped(_ special: String) -> String {
      text.map { special.contains($0) ? "\\\($0)" : "\($0)" }.joined()
    }
    let isFish = shell == "fish"
    var words = [escaped(" '\"\\$`;&|<>()*?[]{}~#!^%")]
    if isFish || !text.contains("'") { words.append("'" + (isFish ? escaped("\\'") : text)) }
    if !text.contains("!") { words.append("\"" + escaped(isFish ? "\"$\\" : "\"$`\\")) }
    return words
  }

  @Test(
    .enabled(if: ["bash", "zsh", "fish"].allSatisfy(isInstalled), "bash, zsh and fish are not installed"),
    arguments: [
      ("bash", ["--norc", "--noprofile", "-i"], "source <(keytree completions bash)"),
      (
        "zsh", ["-f", "-i"],
        "autoload -U compinit; compinit -u -D; zstyle ':completion:*' insert-tab false; source <(keytree completions zsh)"
      ),
      ("fish", ["--no-config", "-i"], "keytree completions fish | source"),
    ])
  func `a user who types the beginning of a name and a tab gets the whole name`(
    shell: String, options: [String], setup: String
  ) throws {
    let (world, environment) = try prepare()
    for name in Self.hostile {
      let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
      #expect(world.run("add", "--server", parts[0], "-a", parts[1], input: [1]).code == .done)
    }
    let path = try #require(
      ["/bin/", "/usr/bin/"].map { $0 + shell }.first(where: FileManager.default.isExecutableFile))
    let terminal = try PseudoTerminal(
      options, variables: environment.merging(["TERM": "dumb", "LC_ALL": "C.UTF-8"]) { $1 }, program: path)
    // A function shows with which words the command would run. The scripts ask the program itself for names.
    let function =
      shell == "fish"
      ? "function keytree; string join \\n -- $argv > $HOME/words; printf 'rea''dy\\n'; end"
      : "keytree() { printf '%s\\n' \"$@\" > \"$HOME/words\"; printf 'rea''dy\\n'; }"
    terminal.type("cd; \(setup); \(function); keytree\n")
    try terminal.wait(for: "ready")
    for name in Self.hostile {
      for count in [2, name.count - 1] {
        for word in Self.typed(String(name.prefix(count)), in: shell) {
          terminal.type("keytree get \(word)\t\n")
          try terminal.wait(for: "ready")
          let words = try String(contentsOfFile: world.scratch.path + "/words", encoding: .utf8)
          #expect(words == "get\n\(name)\n", "\(word)")
        }
      }
    }
    terminal.type("exit\n")
    #expect(terminal.finish().code == 0)
    #expect(!FileManager.default.fileExists(atPath: world.scratch.path + "/PWNED"))
  }

  @Test("completion works in fish", .enabled(if: isInstalled("fish"), "fish is not installed"))
  func fish() throws {
    let (world, environment) = try prepare()
    defer { withExtendedLifetime(world) {} }
    let script = """
      keytree completions fish | source
      complete -C 'keytree get git'
      complete -C 'keytree tru'
      complete -C 'keytree group show o'
      complete -C 'keytree find --group d'
      """
    let offered = try run("fish", ["--no-config", "-c", script], environment)
    #expect(
      offered.map { String($0.prefix { $0 != "\t" }) }
        == ["github.com/alice", "github.com/bob", "trust", "ops", "default"])
  }

  @Test("completion works in zsh", .enabled(if: isInstalled("zsh"), "zsh is not installed"))
  func zsh() throws {
    let (world, environment) = try prepare()
    world.run("add", "generic:localhost:8080/alice", input: [1])
    world.run("add", "my host/a b", input: [1])
    // Completion needs a line editor, so zsh runs in its own pseudo-terminal: type the words, press TAB, read the
    // screen.
    let script = """
      zmodload zsh/zpty
      zpty -b z "TERM=dumb exec zsh -f -i"
      # Sends $1 and reads until $2 shows, for at most ten seconds.
      talk() {
        local part; integer left=200; text=
        zpty -w -n z "$1"
        while [[ $text != *$~2* ]] && ((left-- > 0)); do
          if zpty -r -t z part; then text+=$part; else sleep 0.05; fi
        done
      }
      talk $'cd $DIR; autoload -U compinit; compinit -u -d zcompdump; source <(keytree completions zsh)\\n' ''
      talk $'print rea""dy\\n' 'ready'
      talk $'keytree get gith\\t' 'github.com/'
      print -r -- "$text"
      talk $'\\x15keytree otp loca\\t' 'localhost:8080/alice'
      print -r -- "$text"
      talk $'\\x15keytree otp ad\\t' 'otp add'
      print -r -- "$text"
      talk $'\\x15keytree otp my\\t' 'my*host'
      print -r -- "$text"
      talk $'\\x15keytree group show o\\t' 'show ops'
      print -r -- "$text"
      zpty -d z
      """
    let offered = try run(
      "zsh", ["-f", "-c", script], environment.merging(["DIR": world.scratch.path]) { $1 }
    ).joined(separator: "\n")
    #expect(offered.contains("github.com/"), "\(offered)")
    #expect(offered.contains("localhost:8080/alice"), "\(offered)")
    #expect(offered.contains("otp add"), "\(offered)")
    #expect(offered.contains("my\\ host/a\\ b"), "\(offered)")
    #expect(offered.contains("group show ops"), "\(offered)")
  }
}
