package import KeyringModel
package import OpenPGP

/// The faults of key files. GnuPG needs only two listings for each batch of files without a fault.
package struct KeyFileProblems {
  /// The faults by person, in the order of the files.
  package private(set) var list: [(person: Fingerprint, fault: KeyFileProblem)] = []

  /// The number of files that are listed together.
  private static let portion = 64
  /// The number of faulty files after which the other files of a faulty batch are not listed separately (threat T46).
  package static let limit = 64

  private var faulty = 0

  /// Checks key files.
  ///
  /// - Parameters:
  ///   - files: The files and their owners; each person once.
  ///   - keys: Returns the keys in the given bytes.
  /// - Throws: The error of `keys`.
  package init(
    of files: [(person: Fingerprint, bytes: [UInt8])],
    keys: ([UInt8]) throws(EngineError) -> [PublicKey]
  ) throws(EngineError) {
    var rest = [(person: Fingerprint, bytes: [UInt8])]()[...]
    for file in files {
      // GnuPG does not get a key with too many parts. The problem of the owner's key is reported about the key.
      guard let (person, _) = KeyPackets.excess(in: file.bytes) else {
        rest.append(file)
        continue
      }
      if person != file.person { list.append((file.person, .others([person]))) }
    }
    while !rest.isEmpty {
      let portion = Array(rest.prefix(Self.portion))
      rest = rest.dropFirst(portion.count)
      // If both listings follow the order of the files, each file has exactly one key: two keys in one file would keep
      // their order when the files are reversed.
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
    // The problem of a key that this machine's GnuPG cannot read is reported about the key, not about its file.
    if found.isEmpty, KeyPackets.problem(of: bytes) == .missing { list.append((person, .empty)) }
    if !others.isEmpty { list.append((person, .others(others.sorted()))) }
    if list.count > before { faulty += 1 }
  }
}
