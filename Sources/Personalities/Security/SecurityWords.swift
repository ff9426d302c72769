package import Arguments
package import Secrets
package import Terminal

/// The words of one command line of `security`, in memory that is wiped: any of them may be a password.
package struct SecurityWords: Sendable {
  private var words: ArraySlice<SecretSlice>
  /// Overwrites a word from a position on where every other process can read it; nil for words that came by
  /// standard input, which nobody else saw.
  private let wipe: (@Sendable (_ index: Int, _ offset: Int) -> Void)?

  /// Takes words that came by standard input.
  package init(typed words: [SecretSlice]) {
    self.words = words[...]
    wipe = nil
  }

  /// Takes the arguments of this process, without the name of the program.
  package init(_ memory: ArgumentMemory) {
    var words: [SecretSlice] = []
    for index in 1..<max(memory.count, 1) {
      words.append(unsafe memory.withBytes(index) { unsafe SecretSlice(SecretBytes(copying: $0)) })
    }
    self.words = words[...]
    // Shown with the name in front of them.
    wipe = { memory.wipe($0 + 1, from: $1) }
  }

  /// Takes words as arguments that are in no memory of the system.
  ///
  /// - Parameter wipe: is told what would be overwritten there.
  package init(
    arguments: [Word], wipe: @escaping @Sendable (_ index: Int, _ offset: Int) -> Void = { _, _ in }
  ) {
    words = arguments.map { SecretSlice(SecretBytes(copying: $0.bytes)) }[...]
    self.wipe = wipe
  }

  /// A Boolean value that indicates whether every user of this machine can see the words.
  var areShown: Bool { wipe != nil }

  /// The number of words.
  package var count: Int { words.count }

  /// A word by its position.
  package subscript(_ index: Int) -> SecretSlice { words[words.startIndex + index] }

  /// The words without the first ones.
  package func dropFirst(_ count: Int) -> SecurityWords {
    var rest = self
    rest.words = words.dropFirst(count)
    return rest
  }

  /// Overwrites a word from a position on where others can see it.
  func hide(_ index: Int, from offset: Int) { wipe?(words.startIndex + index, offset) }
}
