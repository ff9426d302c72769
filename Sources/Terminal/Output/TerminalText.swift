/// Text that can be written to a terminal unchanged: the program's own text, and other text after escaping.
///
/// A literal is the program's own text. An interpolated value is escaped, so `"\(name)\n"` can contain any name.
package struct TerminalText: Equatable, Sendable, ExpressibleByStringInterpolation {
  /// The escaped text.
  package let text: String

  /// Creates text from a literal of the program.
  package init(stringLiteral text: String) { self.text = text }

  /// Creates text that the program composed from its own text and from escaped text, such as a help page.
  package init(composed text: String) { self.text = text }

  /// Returns a text followed by another one.
  package static func + (left: TerminalText, right: TerminalText) -> TerminalText {
    TerminalText(composed: left.text + right.text)
  }

  package init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

  /// Collects the parts of an interpolated literal.
  package struct Interpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    package init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    package mutating func appendLiteral(_ literal: String) { text += literal }

    /// Appends text from elsewhere, escaped.
    package mutating func appendInterpolation(_ other: String) { text += Escaping.terminal.show(other) }

    /// Appends text that was escaped before.
    package mutating func appendInterpolation(_ other: TerminalText) { text += other.text }

    /// Appends a number.
    package mutating func appendInterpolation(_ number: some BinaryInteger) { text += String(number) }
  }
}
