/// The completion script for bash; see `CompletionScript`.
struct BashCompletion {
  let program: ProgramDeclaration
  private let paths: [[CommandDeclaration]]

  init(_ program: ProgramDeclaration) {
    self.program = program
    paths = CompletionScript.allPaths(program.commands)
  }

  func text() -> String {
    let name = program.name
    return """
      # bash completion for \(name): source it, or put it in ~/.local/share/bash-completion/completions/\(name)

      # Offers the items that begin with the word $1, quoted. bash treats the text before the last colon as a separate
      # word, so it is not repeated. After a quotation mark, bash wants the name as it is, and closes the quotation; a
      # name with a character that is special there is not offered.
      _\(name)_items() {
        local line quoted before='' typed=${1#[\\"\\']} special=''
        [[ $1 == \\'* ]] && special="'"
        [[ $1 == \\"* ]] && special='"$`\\!'
        # The word is as typed: without its quotation marks and backslashes it is the beginning of a name.
        typed=${typed//\\\\/}
        [[ $1 == *:* && $COMP_WORDBREAKS == *:* ]] && before=${1%"${1##*:}"}
        while IFS= read -r line; do
          if [[ -n $special ]]; then
            [[ $line == "$typed"* && $line != *["$special"]* ]] && COMPREPLY+=("$line")
            continue
          fi
          printf -v quoted %q "$line"
          [[ $line == "$1"* || $quoted == "$1"* ]] && COMPREPLY+=("${quoted#"$before"}")
        done < <(\(CompletionScript.itemLister(program, prefix: #""$typed""#)))
      }

      _\(name)_lines() {
        local line
        while IFS= read -r line; do
          COMPREPLY+=("$line")
        done
      }

      # Offers the completions of kind $1 for the word $2.
      _\(name)_kind() {
        case $1 in
          item) _\(name)_items "$2" ;;
          file) compopt -o filenames 2>/dev/null; _\(name)_lines < <(compgen -f -- "$2") ;;
          folder) compopt -o filenames 2>/dev/null; _\(name)_lines < <(compgen -d -- "$2") ;;
          words:*) _\(name)_lines < <(compgen -W "${1#words:}" -- "$2") ;;
        esac
      }

      # The kind of the value that option $2 of command $1 takes; empty if it takes none.
      _\(name)_value() {
        case "$1 $2" in
      \(valueCases())
        esac
      }

      # The kind of operand number $2 of command $1.
      _\(name)_operand() {
        case "$1 $2" in
      \(operandCases())
        esac
      }

      # The subcommands of $1, or its options if $2 is "options".
      _\(name)_words() {
        case "$2 $1" in
      \(wordCases())
        esac
      }

      _\(name)() {
        local before='' path='' word kind index count=0 ended=0 skip=0
        local rest=$COMP_LINE isJoined=0 last=-1
        local -a words=()
        COMPREPLY=()
        # Join the words that bash split at a colon.
        for ((index = 0; index <= COMP_CWORD; index++)); do
          word=${COMP_WORDS[index]}
          if ((isJoined)) && [[ $word == :* || ${words[last]} == *: ]]; then
            words[last]+=$word
          else
            last=$((last + 1))
            words[last]=$word
          fi
          rest=${rest#*"$word"}
          isJoined=0
          [[ -n $COMP_LINE && $rest != [[:blank:]]* ]] && isJoined=1
        done
        local current=${words[last]}
        for ((index = 1; index < last; index++)); do
          word=${words[index]}
          if ((skip)); then
            skip=0
            [[ $word == '=' ]] && skip=1
            continue
          fi
          if ((!ended)); then
            case $word in
              --) ended=1; continue ;;
              '=') skip=1; continue ;;
              -?*)
                before=$word
                [[ -n $(_\(name)_value "$path" "$word") ]] && skip=1
                continue
                ;;
            esac
          fi
          case "$path/$word" in
      \(pathCases())
            *) count=$((count + 1)) ;;
          esac
        done
        if ((skip)); then
          [[ $current == '=' ]] && current=''
          _\(name)_kind "$(_\(name)_value "$path" "$before")" "$current"
        elif ((!ended)) && [[ $current == -* ]]; then
          _\(name)_lines < <(compgen -W "$(_\(name)_words "$path" options)" -- "$current")
        else
          if ((count == 0)); then
            _\(name)_lines < <(compgen -W "$(_\(name)_words "$path" commands)" -- "$current")
          fi
          kind=$(_\(name)_operand "$path" "$count")
          [[ -z $kind ]] || _\(name)_kind "$kind" "$current"
        fi
      }

      complete -F _\(name) \(name)

      """
  }

  private func key(_ path: [CommandDeclaration]) -> String {
    path.map(\.name).joined(separator: " ")
  }

  private func kind(_ completion: CompletionKind) -> String {
    switch completion {
    case .none: "text"
    case .item: "item"
    case .file: "file"
    case .folder: "folder"
    case .command: "words:" + program.visibleCommands.map(\.name).joined(separator: " ")
    case .words(let words): "words:" + words.joined(separator: " ")
    }
  }

  private func names(_ option: OptionDeclaration) -> [String] {
    [option.long.map { "--" + $0 }, option.short.map { "-" + String($0) }].compactMap { $0 }
  }

  private func valueCases() -> String {
    var lines: [String] = []
    func add(_ option: OptionDeclaration, _ prefix: String) {
      guard case .required(let value) = option.argument else { return }
      let pattern = names(option).map { prefix + $0 }.joined(separator: "|")
      lines.append("    \(pattern)) echo \(CompletionScript.quote(kind(value.completion))) ;;")
    }
    for option in program.globals { add(option, "*' '") }
    for path in paths {
      for option in path.flatMap(\.options) { add(option, CompletionScript.quote(key(path) + " ")) }
    }
    return lines.joined(separator: "\n")
  }

  private func operandCases() -> String {
    var lines: [String] = []
    for path in paths {
      for (index, operand) in (path.last?.operands ?? []).enumerated() where operand.value.completion != .none
      {
        let isLast = operand.count == .any || operand.count == .oneOrMore
        let pattern = CompletionScript.quote(key(path) + " ") + (isLast ? "*" : String(index))
        lines.append("    \(pattern)) echo \(CompletionScript.quote(kind(operand.value.completion))) ;;")
      }
    }
    return lines.joined(separator: "\n")
  }

  private func wordCases() -> String {
    let globals = program.globals.flatMap(names)
    let top = program.visibleCommands.map(\.name)
    var lines = [
      "    'commands ') echo \(CompletionScript.quote(top.joined(separator: " "))) ;;",
      "    'options ') echo \(CompletionScript.quote(globals.joined(separator: " "))) ;;",
    ]
    for path in paths {
      let below = path.last?.subcommands.filter { !$0.isHidden }.map(\.name) ?? []
      if !below.isEmpty {
        let words = CompletionScript.quote(below.joined(separator: " "))
        lines.append("    \(CompletionScript.quote("commands " + key(path)))) echo \(words) ;;")
      }
      let words = (path.flatMap(\.options).flatMap(names) + globals).joined(separator: " ")
      lines.append(
        "    \(CompletionScript.quote("options " + key(path)))) echo \(CompletionScript.quote(words)) ;;")
    }
    return lines.joined(separator: "\n")
  }

  private func pathCases() -> String {
    paths.map { path in
      let above = key(Array(path.dropLast()))
      let words = [path.last?.name].compactMap { $0 } + (path.last?.aliases ?? [])
      let pattern = words.map { CompletionScript.quote(above + "/" + $0) }.joined(separator: "|")
      return "      \(pattern)) path=\(CompletionScript.quote(key(path))) ;;"
    }.joined(separator: "\n")
  }
}
