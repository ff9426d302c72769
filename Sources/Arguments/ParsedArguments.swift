/// The options and operands of one command line, checked against their declarations.
package struct ParsedArguments: Equatable, Sendable {
  /// An option that was given.
  package struct Given: Equatable, Sendable {
    /// The option.
    package let option: OptionDeclaration
    /// Its value, where one was given.
    package let value: Word?
  }

  /// The options in the order of the command line.
  package private(set) var options: [Given] = []
  /// The operands in order.
  package private(set) var operands: [Word] = []

  /// Nothing given.
  package init() {}

  mutating func add(_ option: OptionDeclaration, _ value: Word?) {
    options.append(Given(option: option, value: value))
  }

  mutating func add(operand: Word) {
    operands.append(operand)
  }

  /// True when an option was given.
  package func has(_ option: OptionDeclaration) -> Bool {
    options.contains { $0.option.name == option.name }
  }

  /// The value an option was given last, or nil when it was not given or has none.
  package func value(_ option: OptionDeclaration) -> Word? {
    options.last { $0.option.name == option.name }?.value
  }

  /// All values an option was given, in order.
  package func values(_ option: OptionDeclaration) -> [Word] {
    options.compactMap { $0.option.name == option.name ? $0.value : nil }
  }

  /// The value of an option as text; nil when not given. The parser has seen to it that it is UTF-8.
  package func text(_ option: OptionDeclaration) -> String? {
    value(option)?.text
  }

  /// The value of an option as a number; nil when not given or when it is a word in a number's place.
  package func integer(_ option: OptionDeclaration) -> Int? {
    text(option).flatMap { Int($0) }
  }

  /// The operand at a position, or nil when there are fewer.
  package func operand(_ index: Int) -> Word? {
    index < operands.count ? operands[index] : nil
  }
}
