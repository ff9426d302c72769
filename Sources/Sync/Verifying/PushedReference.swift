/// One line of what git tells a hook of a push: what a reference was, what it becomes, and its name (`githooks(5)`).
package struct PushedReference: Equatable, Sendable {
  /// The commit before; nil for a new one.
  package let old: String?
  /// The commit that is pushed; nil when the reference is to be deleted.
  package let new: String?
  /// Its full name; what is not UTF-8 in it is replaced.
  package let name: String

  /// A Boolean value that indicates whether the reference is a branch.
  package var isBranch: Bool { name.hasPrefix("refs/heads/") }

  /// Reads what a hook is given.
  ///
  /// - Parameter input: Lines of `<old> <new> <name>`.
  /// - Returns: nil when that is not what it is.
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
