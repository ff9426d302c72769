package import KeyringModel
package import OpenPGP

/// What is wrong with key files, found with few listings by GnuPG: two for each portion of files that have nothing but
/// their person's key.
package struct KeyFileFaults {
  /// What is wrong, by person, in the order of the files.
  package private(set) var list: [(person: Fingerprint, fault: KeyFileFault)] = []

  /// How many files are listed together.
  private static let portion = 64
  /// After so many faulty files the other files of a portion with a fault are not listed by themselves (threat T46).
  package static let limit = 64

  private var faulty = 0

  /// Looks at key files.
  ///
  /// - Parameters:
  ///   - files: The files, with whose they are; each person once.
  ///   - keys: Lists the keys in some bytes.
  /// - Throws: What `keys` throws.
  package init(
    of files: [(person: Fingerprint, bytes: [UInt8])],
    keys: ([UInt8]) throws(EngineError) -> [PublicKey]
  ) throws(EngineError) {
    var rest = files[...]
    while !rest.isEmpty {
      let portion = Array(rest.prefix(Self.portion))
      rest = rest.dropFirst(portion.count)
      // A key that comes first in one order and last in the other is in a file of its own: two keys of one file come in the
      // same order both times.
      if portion.count > 1, !portion.contains(where: { KeyFile.hasSecretKey($0.bytes) }),
        try Self.hasOneKeyEach(portion, keys), try Self.hasOneKeyEach(portion.reversed(), keys)
      {
        continue
      }
      for file in portion { try look(at: file.bytes, of: file.person, keys) }
    }
  }

  private static func hasOneKeyEach(
    _ files: [(person: Fingerprint, bytes: [UInt8])], _ keys: ([UInt8]) throws(EngineError) -> [PublicKey]
  ) throws(EngineError) -> Bool {
    try keys(files.flatMap { $0.bytes + [UInt8(ascii: "\n")] }).map(\.fingerprint) == files.map(\.person)
  }

  private mutating func look(
    at bytes: [UInt8], of person: Fingerprint, _ keys: ([UInt8]) throws(EngineError) -> [PublicKey]
  ) throws(EngineError) {
    guard faulty < Self.limit else { return list.append((person, .notListed)) }
    let before = list.count
    let found = try keys(bytes)
    let others = found.map(\.fingerprint).filter { $0 != person }
    if KeyFile.hasSecretKey(bytes) { list.append((person, .secret)) }
    if found.isEmpty { list.append((person, .empty)) }
    if !others.isEmpty { list.append((person, .others(others.sorted()))) }
    if list.count > before { faulty += 1 }
  }
}
