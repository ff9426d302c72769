internal import FileSystem

/// A program and its arguments in a setting of the user, such as `EDITOR`. No shell is used, and nothing is expanded.
package struct ProgramCommand: Equatable, Sendable {
  /// The file to start.
  package let path: String
  /// The arguments.
  package let arguments: [String]

  /// Creates a command from text.
  ///
  /// - Parameters:
  ///   - text: the program and its arguments; see ``split(_:)``.
  ///   - searchPath: the folders in which to look for the program, as in `PATH`. The result is nil if it is not found.
  package init?(_ text: String, searchPath: String) {
    guard let words = Self.split(text), let program = words.first,
      let path = Self.locate(program, in: searchPath)
    else { return nil }
    self.path = path
    arguments = Array(words.dropFirst())
  }

  /// Returns the words of a command. Blanks separate them; quotation marks and backslashes quote as in a shell.
  ///
  /// - Returns: the words, or nil if a quotation mark is not closed or a backslash ends the text.
  package static func split(_ text: String) -> [String]? {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var isEscaped = false
    for character in text {
      if isEscaped {
        // Within double quotes a backslash escapes only a quotation mark and a backslash.
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

  /// Returns the executable file of a program, or nil if it is not found or another user could change it.
  static func locate(_ program: String, in searchPath: String) -> String? {
    guard program.contains("/") else { return ProgramSearch.path(of: program, in: searchPath) }
    guard ProgramSearch.isProgram(program), FileProtection.weakness(ofProgram: program) == nil else {
      return nil
    }
    return program
  }
}
