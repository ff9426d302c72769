internal import KeyringModel

extension Context {
  /// Lists keys, and checks that none is missing: libgpgme does not notice that gpg was killed while it was listing them.
  /// A second listing names at least the same keys, and this process sees how it ends. Starts one process more than
  /// ``keys(matching:secretOnly:processStarted:)``.
  ///
  /// - Parameters:
  ///   - pattern: The search pattern for GnuPG; nil for every key.
  ///   - secretOnly: True to list only keys with a secret key.
  ///   - processStarted: Called for each process that is started.
  /// - Returns: The keys in GnuPG's order.
  /// - Throws: The errors of that function; `incomplete` also if a key or subkey is missing.
  func wholeKeys(
    matching pattern: String?, secretOnly: Bool, processStarted: () -> Void
  ) throws(EngineError) -> [PublicKey] {
    let keys = try keys(matching: pattern, secretOnly: secretOnly, processStarted: processStarted)
    let options =
      (home.map { ["--homedir", $0] } ?? []) + [
        "--batch", "--no-tty", "--quiet", "--no-auto-check-trustdb", "--disable-dirmngr", "--with-colons",
        "--with-fingerprint", "--with-fingerprint", secretOnly ? "--list-secret-keys" : "--list-keys",
      ]
    processStarted()
    let output = try ProgramCall.run(
      untilEnd: program.path, options + (pattern.map { ["--", $0] } ?? []), input: [])
    // A process that does not collect the status of its children cannot check this.
    guard let output else { return keys }
    guard Self.names(keys, allOf: output) else { throw .incomplete(detail: "it did not list all keys") }
    return keys
  }

  /// Returns true if keys include all keys and subkeys of a listing (doc/DETAILS of GnuPG). Those with an unknown form of
  /// fingerprint are left out, as a policy cannot name them.
  private static func names(_ keys: [PublicKey], allOf listing: [UInt8]) -> Bool {
    let known = Dictionary(
      keys.map { ($0.fingerprint, Set($0.subkeys.map(\.fingerprint))) }, uniquingKeysWith: { $0.union($1) })
    var blocks: [[Fingerprint?]] = []
    for line in listing.split(separator: UInt8(ascii: "\n")) {
      let fields = String(decoding: line, as: UTF8.self).split(
        separator: ":", omittingEmptySubsequences: false)
      switch fields[0] {
      case "pub", "sec": blocks.append([])
      case "fpr" where fields.count > 9 && !blocks.isEmpty:
        blocks[blocks.count - 1].append(Fingerprint(String(fields[9])))
      default: break
      }
    }
    return blocks.allSatisfy { block in
      guard let primary = block.first ?? nil else { return true }
      return known[primary]?.isSuperset(of: block.compactMap(\.self)) ?? false
    }
  }
}
