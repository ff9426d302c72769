/// The unique name of a connection to the bus, such as `:1.42`.
package struct Sender: Hashable, Sendable {
  /// The name.
  package let name: String

  /// Creates a sender.
  ///
  /// - Parameter name: The unique name.
  package init(_ name: String) { self.name = name }
}
