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
    return #"""
      # bash completion for \#(name): source it, or put it in ~/.local/share/bash-completion/completions/\#(name)

      # Splits the line $1 into words as bash does, without their quotation marks and backslashes; COMP_WORDS is also split at
      # @, = and :. Sets $typed to the last word as it was typed, $quote to the quotation mark that is open at its end, and
      # $isSafe to 0 if it has a character that bash would expand.
      _\#(name)_split() {
        local char next index isOpen=0
        words=() typed='' quote='' isSafe=1
        for ((index = 0; index < ${#1}; index++)); do
          char=${1:index:1} next=${1:index+1:1}
          if [[ -z $quote && $char == [[:blank:]] ]]; then
            isOpen=0
            continue
          fi
          if ((!isOpen)); then
            isOpen=1 typed='' isSafe=1
            words+=('')
          fi
          typed+=$char
          if [[ $char == \\ && $quote != "'" ]]; then
            # A backslash at the end quotes nothing yet.
            [[ -z $quote && -z $next ]] && typed=${typed%?} replaced=${replaced%?}
            [[ $quote == '"' && $next != [\"\$\`\\] ]] && words[-1]+=$char
            words[-1]+=$next typed+=$next
            index=$((index + 1))
          elif [[ $char == "$quote" ]]; then
            quote=''
          elif [[ -z $quote && $char == [\"\'] ]]; then
            quote=$char
          else
            words[-1]+=$char
            [[ $quote != "'" && $char == [\$\`\!] || -z $quote && $char == [*?~#{}\&\;\|\<\>\(\)[] ]] && isSafe=0
          fi
        done
        if ((!isOpen)); then
          words+=('')
          typed=''
        fi
      }

      # Offers the names on standard input that begin with the text $1. The rest of a name is quoted as the word was begun; the
      # whole name, if bash would expand what was typed. readline replaces only $replaced, the end of the word, and closes a
      # quotation that does not end with its mark.
      _\#(name)_names() {
        local name rest word start=$typed kept=${typed%"$replaced"}
        ((isSafe)) || start=$quote
        while IFS= read -r name; do
          [[ $name == "$1"* ]] || continue
          rest=$name
          ((isSafe)) && rest=${name#"$1"}
          case $quote in
            "'")
              rest=${rest//"'"/"'\''"}
              [[ $rest == *"'" ]] && rest=${rest%"''"}"'"
              ;;
            '"')
              rest=${rest//\\/\\\\}
              rest=${rest//'"'/'\"'}
              rest=${rest//'$'/'\$'}
              rest=${rest//'`'/'\`'}
              rest=${rest//'!'/'"\!"'}
              [[ $rest == *'"' ]] && rest+='"'
              ;;
            *) [[ -z $rest ]] || printf -v rest %q "$rest" ;;
          esac
          word=$start$rest
          [[ $word == "$kept"* ]] && COMPREPLY+=("${word#"$kept"}")
        done
      }

      # Offers the paths on standard input, which bash quotes.
      _\#(name)_paths() {
        local path kept=${typed%"$replaced"}
        kept=${kept#--*=}
        kept=${kept%"$quote"}
        compopt -o filenames 2>/dev/null
        while IFS= read -r path; do
          [[ $path == "$kept"* ]] && COMPREPLY+=("${path#"$kept"}")
        done
      }

      # Offers the completions of kind $1 for the text $2, the end of the word.
      _\#(name)_kind() {
        case $1 in
          item) _\#(name)_names "$2" < <(\#(CompletionScript.itemLister(program, prefix: #""$2""#))) ;;
          group) _\#(name)_names "$2" < <(\#(CompletionScript.groupLister(program))) ;;
          file) _\#(name)_paths < <(compgen -f -- "$2") ;;
          folder) _\#(name)_paths < <(compgen -d -- "$2") ;;
          words:*) _\#(name)_names "$2" < <(compgen -W "${1#words:}" -- "$2") ;;
        esac
      }

      # The kind of the value that option $2 of command $1 takes; empty if it takes none.
      _\#(name)_value() {
        case "$1 $2" in
      \#(valueCases())
        esac
      }

      # The kind of operand number $2 of command $1.
      _\#(name)_operand() {
        case "$1 $2" in
      \#(operandCases())
        esac
      }

      # The subcommands of $1, or its options if $2 is "options".
      _\#(name)_words() {
        case "$2 $1" in
      \#(wordCases())
        esac
      }

      _\#(name)() {
        local before='' path='' word kind index count=0 ended=0 skip=0 typed quote isSafe replaced=$2
        local -a words
        COMPREPLY=()
        _\#(name)_split "${COMP_LINE:0:COMP_POINT}"
        local last=$((${#words[@]} - 1)) current=${words[-1]}
        for ((index = 1; index < last; index++)); do
          word=${words[index]}
          if ((skip)); then
            skip=0
            continue
          fi
          if ((!ended)); then
            case $word in
              --) ended=1; continue ;;
              --*=*) continue ;;
              -?*)
                before=$word
                [[ -n $(_\#(name)_value "$path" "$word") ]] && skip=1
                continue
                ;;
            esac
          fi
          case "$path/$word" in
      \#(pathCases())
            *) count=$((count + 1)) ;;
          esac
        done
        if ((skip)); then
          _\#(name)_kind "$(_\#(name)_value "$path" "$before")" "$current"
        elif ((!ended)) && [[ $current == --*=* ]]; then
          _\#(name)_kind "$(_\#(name)_value "$path" "${current%%=*}")" "${current#*=}"
        elif ((!ended)) && [[ $current == -* ]]; then
          _\#(name)_names "$current" < <(compgen -W "$(_\#(name)_words "$path" options)" -- "$current")
        else
          if ((count == 0)); then
            _\#(name)_names "$current" < <(compgen -W "$(_\#(name)_words "$path" commands)" -- "$current")
          fi
          kind=$(_\#(name)_operand "$path" "$count")
          [[ -z $kind ]] || _\#(name)_kind "$kind" "$current"
        fi
      }

      complete -F _\#(name) \#(name)

      """#
  }

  private func key(_ path: [CommandDeclaration]) -> String {
    path.map(\.name).joined(separator: " ")
  }

  private func kind(_ completion: CompletionKind) -> String {
    switch completion {
    case .none: "text"
    case .item: "item"
    case .group: "group"
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
