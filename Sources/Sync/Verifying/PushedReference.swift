/// One line of the input of a hook for a push: the old value of a reference, its new value, and its name
/// (`githooks(5)`).
package struct PushedReference: Equatable, Sendable {
  /// The old commit; nil if the reference is new.
  package let old: String?
  /// The new commit; nil if the reference is deleted.
  package let new: String?
  /// The full name of the reference. Invalid UTF-8 is replaced.
  package let name: String

  /// True if the reference is a branch.
  package var isBranch: Bool { name.hasPrefix("refs/heads/") }

  /// Parses the input of a hook.
  ///
  /// - Parameter input: Lines of `<old> <new> <name>`.
  /// - Returns: The references; nil if the input has another format.
  package static func list(_ input: [UInt8]) -> [PushedReference]? {
    var references: [PushedReference] = []
    for line in input.split(separator: UInt8(ascii: "\n")) {
      let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
      guard words.count == 3, let old = commit(words[0]), let new = commit(words[1]) else { return nil }
      references.append(
        PushedReference(
          old: old.isZero ? nil : old.name, new: new.isZero ? nil : new.name,
          name: String(decoding: words[2], as: UTF8.self)))
    }
    return references
  }

  private static func commit(_ bytes: ArraySlice<UInt8>) -> (name: String, isZero: Bool)? {
    let name = String(decoding: bytes, as: UTF8.self)
    let isName =
      [40, 64].contains(bytes.count)
      && bytes.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
      }
    return isName ? (name, bytes.allSatisfy { $0 == UInt8(ascii: "0") }) : nil
  }
}
