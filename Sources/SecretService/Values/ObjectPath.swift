/// The path of an object on the bus.
package struct ObjectPath: Hashable, Sendable {
  /// The path as text.
  package let text: String

  /// Creates a path from text, which is not checked.
  ///
  /// - Parameter text: The path.
  package init(_ text: String) { self.text = text }

  /// The path that means "no object", `/`.
  package static let none = ObjectPath("/")
  /// The path of the service itself.
  package static let service = ObjectPath("/org/freedesktop/secrets")

  static let collections = "/org/freedesktop/secrets/collection/"
  static let aliases = "/org/freedesktop/secrets/aliases/"
  static let sessions = "/org/freedesktop/secrets/session/"
  static let prompts = "/org/freedesktop/secrets/prompt/"
}

extension ObjectPath: CustomStringConvertible {
  /// The same as ``text``.
  package var description: String { text }
}
