/// The completion script for fish; see `CompletionScript`.
struct FishCompletion {
  let program: ProgramDeclaration

  init(_ program: ProgramDeclaration) {
    self.program = program
  }

  func text() -> String {
    let name = program.name
    var lines = [
      "# fish completion for \(name): put it in ~/.config/fish/completions/\(name).fish, or source it",
      "",
      "function __\(name)_items",
      "    \(CompletionScript.itemLister(program, prefix: "(string unescape -- (commandline -ct))"))",
      "end",
      "",
      "function __\(name)_groups",
      "    \(CompletionScript.groupLister(program))",
      "end",
      "",
      "complete -c \(name) -f",
    ]
    for option in program.globals { lines.append(complete(option, condition: nil)) }
    for command in program.visibleCommands {
      lines.append(self.command(command, condition: "__fish_use_subcommand"))
    }
    for path in CompletionScript.allPaths(program.commands) { lines += self.lines(path) }
    return lines.joined(separator: "\n") + "\n"
  }

  private func lines(_ path: [CommandDeclaration]) -> [String] {
    guard let command = path.last else { return [] }
    var condition = path.map { seen([$0]) }.joined(separator: "; and ")
    // `tool group show` is not `tool show`.
    let parents = path.count > 1 ? [] : parents(ofNamesOf: command)
    if !parents.isEmpty { condition += "; and not " + seen(parents) }
    var lines = command.options.map { complete($0, condition: condition) }
    let below = command.subcommands.filter { !$0.isHidden }
    let isFree = below.isEmpty ? condition : condition + "; and not " + seen(below)
    lines += below.map { self.command($0, condition: isFree) }
    var offered: [CompletionKind] = []
    for operand in command.operands where !offered.contains(operand.value.completion) {
      offered.append(operand.value.completion)
      if let words = words(operand.value.completion) {
        lines.append("complete -c \(program.name) -n \(quote(isFree)) \(words)")
      }
    }
    return lines
  }

  /// Returns the commands that have a subcommand with a name of another command.
  private func parents(ofNamesOf command: CommandDeclaration) -> [CommandDeclaration] {
    program.commands.filter { parent in
      parent.subcommands.contains { below in
        ([command.name] + command.aliases).contains { below.answers(to: $0) }
      }
    }
  }

  private func seen(_ commands: [CommandDeclaration]) -> String {
    let words = commands.flatMap { [$0.name] + $0.aliases }
    return "__fish_seen_subcommand_from " + words.joined(separator: " ")
  }

  private func command(_ command: CommandDeclaration, condition: String) -> String {
    "complete -c \(program.name) -n \(quote(condition)) -a \(command.name) -d \(quote(command.summary))"
  }

  private func complete(_ option: OptionDeclaration, condition: String?) -> String {
    var line = "complete -c \(program.name)"
    if let condition { line += " -n " + quote(condition) }
    if let short = option.short { line += " -s " + String(short) }
    if let long = option.long { line += " -l " + long }
    if case .required(let value) = option.argument {
      // Without `-x`, fish offers files as well.
      line += value.completion == .file ? " -r" : " -x"
      if let words = words(value.completion) { line += " " + words }
    }
    return line + " -d " + quote(option.help)
  }

  private func words(_ completion: CompletionKind) -> String? {
    switch completion {
    case .none: nil
    case .item: "-a " + quote("(__\(program.name)_items)")
    case .group: "-a " + quote("(__\(program.name)_groups)")
    case .file: "-F"
    case .folder: "-a " + quote("(__fish_complete_directories)")
    case .command: "-a " + quote(program.visibleCommands.map(\.name).joined(separator: " "))
    case .words(let words): "-a " + quote(words.joined(separator: " "))
    }
  }

  /// Returns a text in single quotes. In fish, a backslash escapes even within single quotes.
  private func quote(_ text: String) -> String {
    var quoted = "'"
    for character in text {
      if character == "\\" || character == "'" { quoted += "\\" }
      quoted.append(character)
    }
    return quoted + "'"
  }
}
