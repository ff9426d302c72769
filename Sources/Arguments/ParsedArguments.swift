/// The options and operands of one command line, checked against their declarations.
package struct ParsedArguments: Equatable, Sendable {
  /// An option that was given.
  package struct Given: Equatable, Sendable {
    /// The option.
    package let option: OptionDeclaration
    /// Its value, if one was given.
    package let value: Word?
  }

  /// The options in the order of the command line.
  package private(set) var options: [Given] = []
  /// The operands in order.
  package private(set) var operands: [Word] = []

  /// Creates a value without options and operands.
  package init() {}

  mutating func add(_ option: OptionDeclaration, _ value: Word?) {
    options.append(Given(option: option, value: value))
  }

  mutating func add(operand: Word) {
    operands.append(operand)
  }

  /// Returns true if an option was given.
  package func has(_ option: OptionDeclaration) -> Bool {
    options.contains { $0.option.name == option.name }
  }

  /// Returns the last value given for an option; nil if the option was not given or has no value.
  package func value(_ option: OptionDeclaration) -> Word? {
    options.last { $0.option.name == option.name }?.value
  }

  /// Returns all values given for an option, in order.
  package func values(_ option: OptionDeclaration) -> [Word] {
    options.compactMap { $0.option.name == option.name ? $0.value : nil }
  }

  /// Returns the value of an option as text; nil if it was not given. The parser has checked that it is UTF-8.
  package func text(_ option: OptionDeclaration) -> String? {
    value(option)?.text
  }

  /// Returns the value of an option as a number; nil if it was not given, or if it is a word instead of a number.
  package func integer(_ option: OptionDeclaration) -> Int? {
    text(option).flatMap { Int($0) }
  }

  /// Returns the operand at a position; nil if there are fewer operands.
  package func operand(_ index: Int) -> Word? {
    index < operands.count ? operands[index] : nil
  }
}
