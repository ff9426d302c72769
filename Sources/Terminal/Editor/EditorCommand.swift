internal import Glibc

/// The command that starts an editor, with options that keep it from writing the secret anywhere else.
///
/// Editors keep swap files, backups, undo files and histories. The known editors are:
/// - vim and neovim (also when called as `vi` or `editor`; links are followed): no swap file (`-n`), no history file
///   (`-i NONE`), no backup and no undo file after the user's settings are read, and no exit before the editor's window
///   is closed (`-f`).
/// - nvi: temporary and recovery files go into the folder of the secret (`EXINIT`).
/// - nano: restricted mode (`-R`), which has no backups and no histories.
/// - Emacs: without the user's settings (`-Q`), no backups, no auto-save, no lock files.
/// Any other editor is started without further options, and the user is warned that it is not known.
package struct EditorCommand: Equatable, Sendable {
  /// A family of editors with the same options.
  package enum Family: Equatable, Sendable {
    case vim, nvi, nano, emacs, unknown
  }

  /// The file to start.
  package let path: String
  /// The arguments of the command, without the file to edit.
  package let words: [String]
  /// Variables to set for the editor, as `NAME=value`.
  package let variables: [String]
  /// The family of the editor.
  package let family: Family

  /// Creates the command from the text of `VISUAL` or `EDITOR`.
  ///
  /// - Parameters:
  ///   - text: a program and its arguments. Blanks separate them; quotation marks and backslashes quote as in a shell.
  ///     Nothing is expanded, because no shell is used.
  ///   - searchPath: the folders in which to look for the program, as in `PATH`; only absolute ones are used.
  ///   - folder: the folder of the secret, where temporary files may go.
  /// - Throws: `badCommand`; `notFound`.
  package init(_ text: String, searchPath: String, folder: String) throws(EditorError) {
    guard let given = ProgramCommand.split(text), let program = given.first, !program.isEmpty else {
      throw .badCommand(text)
    }
    guard let path = ProgramCommand.locate(program, in: searchPath) else { throw .notFound(program: program) }
    self.path = path
    family = Self.family(of: Self.resolved(path))
    words = given + Self.flags(family)
    let temporary = "TMPDIR=" + folder
    let recovery = "EXINIT=set directory=\(folder) recdir=\(folder)"
    variables = family == .nvi ? [temporary, recovery] : [temporary]
  }

  /// Returns the family of the editor with a file name.
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

  /// Returns the path after resolving all links, or the path itself if that fails. `realpath(3)`.
  private static func resolved(_ path: String) -> String {
    guard let text = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(text) }
    return unsafe String(cString: text)
  }
}
