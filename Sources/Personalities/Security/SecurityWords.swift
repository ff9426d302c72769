package import Arguments
package import Secrets
package import Terminal

/// The words of one command line of `security`, in wiped memory, because any of them may be a password.
package struct SecurityWords: Sendable {
  private var words: ArraySlice<SecretSlice>
  /// Overwrites a word, beginning at an offset, in the memory that other processes can read; nil for words from
  /// standard input, which no other process can read.
  private let wipe: (@Sendable (_ index: Int, _ offset: Int) -> Void)?

  /// Creates the words of a line of standard input.
  package init(typed words: [SecretSlice]) {
    self.words = words[...]
    wipe = nil
  }

  /// Creates the words from the arguments of this process, without the name of the program.
  package init(_ memory: ArgumentMemory) {
    var words: [SecretSlice] = []
    for index in 1..<max(memory.count, 1) {
      words.append(unsafe memory.withBytes(index) { unsafe SecretSlice(SecretBytes(copying: $0)) })
    }
    self.words = words[...]
    // The arguments in memory begin with the name of the program.
    wipe = { memory.wipe($0 + 1, from: $1) }
  }

  /// Creates the words of an argument list that is not the one of this process.
  ///
  /// - Parameter wipe: receives the position of each word to overwrite, and the offset in it.
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

  /// Returns the word at a position.
  package subscript(_ index: Int) -> SecretSlice { words[words.startIndex + index] }

  /// Returns the words without the first ones.
  package func dropFirst(_ count: Int) -> SecurityWords {
    var rest = self
    rest.words = words.dropFirst(count)
    return rest
  }

  /// Overwrites a word, beginning at an offset, where other users can see it.
  func hide(_ index: Int, from offset: Int) { wipe?(words.startIndex + index, offset) }
}
