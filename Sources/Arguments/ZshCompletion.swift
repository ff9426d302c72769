/// The completion script for zsh; see `CompletionScript`.
struct ZshCompletion {
  let program: ProgramDeclaration

  init(_ program: ProgramDeclaration) {
    self.program = program
  }

  func text() -> String {
    let name = program.name
    let functions = CompletionScript.allPaths(program.commands).map(function).joined(separator: "\n")
    return """
      #compdef \(name)
      # zsh completion for \(name): put it in a folder of $fpath as _\(name), or source it

      _\(name)_items() {
        local -a items
        # The beginning of the name, without the quotation marks and backslashes that were typed.
        local typed=$compstate[quote]$PREFIX$compstate[quote]
        items=("${(@f)$(\(CompletionScript.itemLister(program, prefix: #""${(Q)typed}""#)))}")
        compadd -a items
      }

      _\(name)_groups() {
        local -a groups
        groups=("${(@f)$(\(CompletionScript.groupLister(program)))}")
        compadd -a groups
      }

      \(functions)
      \(dispatcher(function: "_\(name)", path: [], commands: program.visibleCommands))
      if [[ $funcstack[1] == _\(name) ]]; then
        _\(name) "$@"
      else
        # Load zsh's completion system first if it is not loaded yet.
        (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
        compdef _\(name) \(name)
      fi

      """
  }

  private func functionName(_ path: [CommandDeclaration]) -> String {
    "_" + ([program.name] + path.map(\.name)).joined(separator: "_")
  }

  private func function(_ path: [CommandDeclaration]) -> String {
    guard let command = path.last else { return "" }
    if !command.subcommands.isEmpty, command.operands.isEmpty {
      let commands = command.subcommands.filter { !$0.isHidden }
      return dispatcher(function: functionName(path), path: path, commands: commands)
    }
    let below = command.subcommands.filter { !$0.isHidden }
    var specifications = (path.flatMap(\.options) + program.globals).flatMap(specification)
    for (index, operand) in command.operands.enumerated() {
      let position =
        switch operand.count {
        case .one: "\(index + 1):"
        case .optional: "\(index + 1)::"
        case .oneOrMore, .any: "*:"
        }
      let message =
        position + escape(operand.value.name) + ":"
        + action(operand.value.completion, orAnyOf: index == 0 ? below : [])
      specifications.append(CompletionScript.quote(message))
    }
    return """
      \(functionName(path))() {
      \(turnings(path, below))  _arguments -s -S \\
          \(specifications.joined(separator: " \\\n    "))
      }

      """
  }

  /// Returns the dispatch to the subcommands of a command that also takes operands.
  private func turnings(_ path: [CommandDeclaration], _ below: [CommandDeclaration]) -> String {
    guard !below.isEmpty else { return "" }
    let cases = below.map { command in
      let words = ([command.name] + command.aliases).joined(separator: "|")
      return "      \(words)) shift words; (( CURRENT-- )); \(functionName(path + [command])); return ;;\n"
    }
    return "  if (( CURRENT > 2 )); then\n    case $words[2] in\n\(cases.joined())    esac\n  fi\n"
  }

  private func dispatcher(
    function: String, path: [CommandDeclaration], commands: [CommandDeclaration]
  ) -> String {
    let list = commands.map { CompletionScript.quote(escape($0.name) + ":" + $0.summary) }
    let cases = commands.map { command in
      let words = ([command.name] + command.aliases).joined(separator: "|")
      return "      \(words)) \(functionName(path + [command])) ;;"
    }
    let options = (path.flatMap(\.options) + program.globals).flatMap(specification)
    return """
      \(function)() {
        local curcontext="$curcontext" state line
        typeset -A opt_args
        _arguments -C -s \\
          \(options.joined(separator: " \\\n    ")) \\
          '1: :->command' '*:: :->rest'
        case $state in
          command)
            local -a commands
            commands=(
              \(list.joined(separator: "\n        "))
            )
            _describe -t commands command commands
            ;;
          rest)
            case $line[1] in
      \(cases.joined(separator: "\n"))
            esac
            ;;
        esac
      }

      """
  }

  private func specification(_ option: OptionDeclaration) -> [String] {
    let repeated = option.isRepeatable ? "*" : ""
    let help = "[" + escape(option.help) + "]"
    let long = option.long.map { "--" + $0 }
    let short = option.short.map { "-" + String($0) }
    var words: [String] = []
    switch option.argument {
    case .none:
      words = [long, short].compactMap { $0 }.map { repeated + $0 + help }
    case .required(let value):
      let tail = help + ":" + escape(value.name) + ":" + action(value.completion)
      words = [long.map { $0 + "=" }, short.map { $0 + "+" }].compactMap { $0 }.map { repeated + $0 + tail }
    case .optional(let value):
      let tail = help + "::" + escape(value.name) + ":" + action(value.completion)
      words = [long.map { $0 + "=-" }, short.map { $0 + "-" }].compactMap { $0 }.map { repeated + $0 + tail }
    }
    return words.map(CompletionScript.quote)
  }

  /// Returns the completion for an operand where a subcommand may be given instead.
  private func action(_ completion: CompletionKind, orAnyOf below: [CommandDeclaration]) -> String {
    guard !below.isEmpty else { return action(completion) }
    let words = below.map(\.name).joined(separator: " ")
    return "{" + action(completion) + "; compadd -- " + words + "}"
  }

  private func action(_ completion: CompletionKind) -> String {
    switch completion {
    case .none: " "
    case .item: "_\(program.name)_items"
    case .group: "_\(program.name)_groups"
    case .file: "_files"
    case .folder: "_files -/"
    case .command: "(" + program.visibleCommands.map(\.name).joined(separator: " ") + ")"
    case .words(let words): "(" + words.joined(separator: " ") + ")"
    }
  }

  /// Escapes a text for a specification, in which brackets, colons and backslashes are special.
  private func escape(_ text: String) -> String {
    var escaped = ""
    for character in text {
      if "\\[]:".contains(character) { escaped += "\\" }
      escaped.append(character)
    }
    return escaped
  }
}
