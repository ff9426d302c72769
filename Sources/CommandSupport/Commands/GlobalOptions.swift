package import Arguments

/// The options that every command has, before or after its name.
package struct GlobalOptions: Equatable, Sendable {
  package static let store = OptionDeclaration(
    "store", .required(ValueDeclaration("DIR|NAME", .text, completion: .folder)),
    help: "the folder of the store or its name in the settings, instead of `KEYTREE_STORE` and the default",
    isRepeatable: true)
  package static let json = OptionDeclaration("json", help: "print one JSON object per line")
  package static let noInput = OptionDeclaration(
    "no-input", help: "never prompt: fail at once with exit code 3 if an answer is needed")
  package static let quiet = OptionDeclaration("quiet", help: "print only errors on standard error")
  package static let explain = OptionDeclaration(
    "explain",
    help: "print to standard error what was read, parsed, decrypted and started")
  package static let help = OptionDeclaration(
    "help", short: "h", help: "explain the command", endsParsing: true)
  package static let version = OptionDeclaration("version", help: "print the version", endsParsing: true)

  /// All of them, in the order of the help text.
  package static let all = [store, json, noInput, quiet, explain, help, version]

  /// The folder of the store, if one is given. The last value wins, so that the user can override an alias.
  package private(set) var store: String?
  /// True if data is printed as JSON.
  package let json: Bool
  /// True if prompts are not allowed.
  package let noInput: Bool
  /// True if diagnostics are omitted.
  package let quiet: Bool
  /// True if the cost of the work is reported.
  package let explain: Bool

  /// Creates the shared options from a command line.
  package init(_ arguments: ParsedArguments) {
    store = arguments.text(Self.store)
    json = arguments.has(Self.json)
    noInput = arguments.has(Self.noInput)
    quiet = arguments.has(Self.quiet)
    explain = arguments.has(Self.explain)
  }

  /// Returns the same options with another store.
  ///
  /// - Parameter path: the folder, as a path with a `/`.
  func at(store path: String) -> GlobalOptions {
    var options = self
    options.store = path
    return options
  }
}
