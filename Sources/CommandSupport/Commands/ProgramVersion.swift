/// The version of this program.
package enum ProgramVersion {
  /// The version number.
  package static let number = "0.1.0"
  /// The line that `keytree version` prints.
  package static var line: String { "keytree \(number)" }
}
