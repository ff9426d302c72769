internal import FileSystem
internal import Glibc
internal import Subprocess

/// The command that starts an editor, with what keeps it from writing the secret anywhere else.
///
/// Editors keep swap files, backups, undo files and histories. What is known about them:
/// - vim and neovim (also when called `vi` or `editor`, links are followed): no swap file (`-n`), no
///   history file (`-i NONE`), after the user's settings no backup and no undo file, and a window of its own is
///   waited for (`-f`).
/// - nvi: temporary and recovery files go into the folder of the secret (`EXINIT`).
/// - nano: restricted mode (`-R`), which has no backups and no histories.
/// - Emacs: without the user's settings (`-Q`), no backups, no auto-save, no lock files.
/// Any other editor is started as it is, and the caller is told that nothing is known about it.
package struct EditorCommand: Equatable, Sendable {
  /// What is known about an editor.
  package enum Family: Equatable, Sendable {
    case vim, nvi, nano, emacs, unknown
  }

  /// The file to start.
  package let path: String
  /// The words of the command without the file to edit.
  package let words: [String]
  /// Variables to be set for it, as `NAME=value`.
  package let variables: [String]
  /// What is known about it.
  package let family: Family

  /// The command for the text of `VISUAL` or `EDITOR`.
  ///
  /// - Parameters:
  ///   - text: a program and its arguments. Blanks separate; quotation marks and backslashes protect, as in
  ///     a shell; nothing is expanded, since no shell is asked.
  ///   - searchPath: folders to look for the program, as in `PATH`; only absolute ones count.
  ///   - folder: the folder of the secret, where temporary files may go.
  /// - Throws: `badCommand`; `notFound`.
  package init(_ text: String, searchPath: String, folder: String) throws(EditorError) {
    guard let given = Self.split(text), let program = given.first, !program.isEmpty else {
      throw .badCommand(text)
    }
    guard let path = Self.locate(program, in: searchPath) else { throw .notFound(program: program) }
    self.path = path
    family = Self.family(of: Self.resolved(path))
    words = given + Self.flags(family)
    let temporary = "TMPDIR=" + folder
    let recovery = "EXINIT=set directory=\(folder) recdir=\(folder)"
    variables = family == .nvi ? [temporary, recovery] : [temporary]
  }

  /// The words of a command; nil when a quotation mark is not closed or a backslash ends the text.
  static func split(_ text: String) -> [String]? {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var isEscaped = false
    for character in text {
      if isEscaped {
        // Within double quotes a backslash protects only what has a meaning there.
        if quote == "\"", character != "\"", character != "\\" { word = (word ?? "") + "\\" }
        word = (word ?? "") + String(character)
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
        word = word ?? ""
      } else if let open = quote {
        if character == open { quote = nil } else { word = (word ?? "") + String(character) }
      } else if character == "'" || character == "\"" {
        quote = character
        word = word ?? ""
      } else if character == " " || character == "\t" || character == "\n" {
        if let done = word { words.append(done) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    guard quote == nil, !isEscaped else { return nil }
    if let done = word { words.append(done) }
    return words
  }

  /// What is known about the editor of a file name.
  static func family(of path: String) -> Family {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    switch name {
    case "vim", "nvim", "vimx", "gvim": return .vim
    case "nvi", "vi", "ex", "view": return .nvi
    case "nano", "rnano": return .nano
    case let name where name.hasPrefix("vim."): return .vim
    case let name where name.hasPrefix("emacsclient"): return .unknown
    case let name where name.hasPrefix("emacs"): return .emacs
    default: return .unknown
    }
  }

  private static func flags(_ family: Family) -> [String] {
    switch family {
    case .vim: ["-n", "-i", "NONE", "-f", "-c", "set noswapfile noundofile nobackup nowritebackup"]
    case .nano: ["-R"]
    case .emacs:
      [
        "-Q", "--eval",
        "(setq make-backup-files nil auto-save-default nil auto-save-list-file-prefix nil "
          + "create-lockfiles nil)",
      ]
    case .nvi, .unknown: []
    }
  }

  /// The file of a program; nil when there is none that may be run.
  private static func locate(_ program: String, in searchPath: String) -> String? {
    guard program.contains("/") else { return ProgramSearch.path(of: program, in: searchPath) }
    return ProgramSearch.isProgram(program) ? program : nil
  }

  /// The file a path leads to after all links; the path itself when that cannot be told. `realpath(3)`.
  private static func resolved(_ path: String) -> String {
    guard let text = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(text) }
    return unsafe String(cString: text)
  }
}
