internal import KeyringModel

extension Context {
  /// Lists keys, and checks that none is missing: libgpgme does not notice that gpg was killed while it was listing them.
  /// A second listing names the same keys, and this process sees how it ends. Starts one process more than
  /// ``keys(matching:secretOnly:processStarted:)``; twice as many if the keyring changes between the two listings.
  ///
  /// - Parameters:
  ///   - pattern: The search pattern for GnuPG; nil for every key.
  ///   - secretOnly: True to list only keys with a secret key.
  ///   - processStarted: Called for each process that is started.
  /// - Returns: The keys in GnuPG's order.
  /// - Throws: The errors of that function; `incomplete` also if a key or subkey is missing, or a secret that is here.
  func wholeKeys(
    matching pattern: String?, secretOnly: Bool, processStarted: () -> Void
  ) throws(EngineError) -> [PublicKey] {
    for _ in 0..<Self.attempts {
      let keys = try keys(matching: pattern, secretOnly: secretOnly, processStarted: processStarted)
      if try isWhole(keys, matching: pattern, secretOnly: secretOnly, processStarted: processStarted) {
        return keys
      }
    }
    throw Self.partialListing
  }

  /// The number of times that keys are listed: another program may import a key between the two listings.
  static let attempts = 2
  /// The error for a listing without some keys.
  static var partialListing: EngineError { .incomplete(detail: "it did not list all keys") }

  /// Returns true if keys are all those that a second listing names, with their subkeys.
  ///
  /// - Parameters:
  ///   - keys: The keys of the first listing.
  ///   - pattern: The search pattern for GnuPG; nil for every key.
  ///   - secretOnly: True to list only keys with a secret key. The places of the secrets are compared, too: if the agent
  ///     ends, gpg lists the rest of them as missing.
  ///   - processStarted: Called for each process that is started.
  /// - Returns: True also in a process that cannot check this, because it does not collect the status of its children.
  /// - Throws: `incomplete` if gpg did not finish the second listing.
  func isWhole(
    _ keys: [PublicKey], matching pattern: String?, secretOnly: Bool, processStarted: () -> Void
  ) throws(EngineError) -> Bool {
    let options =
      (home.map { ["--homedir", $0] } ?? []) + [
        "--batch", "--no-tty", "--quiet", "--no-auto-check-trustdb", "--disable-dirmngr", "--with-colons",
        "--with-fingerprint", "--with-fingerprint", secretOnly ? "--list-secret-keys" : "--list-keys",
      ]
    processStarted()
    let output = try ProgramCall.run(program.path, options + (pattern.map { ["--", $0] } ?? []))
    guard let output else { return true }
    return Self.names(keys, allOf: output, secretOnly: secretOnly)
  }

  /// Returns true if keys include all keys and subkeys of a listing (doc/DETAILS of GnuPG). Those with an unknown form of
  /// fingerprint are left out, as a policy cannot name them.
  private static func names(_ keys: [PublicKey], allOf listing: [UInt8], secretOnly: Bool) -> Bool {
    var known: [Fingerprint: [Fingerprint: Bool]] = [:]
    for key in keys {
      for subkey in key.subkeys {
        known[key.fingerprint, default: [:]][subkey.fingerprint] = !secretOnly || subkey.secret != .elsewhere
      }
    }
    var blocks: [[(fingerprint: Fingerprint?, isHere: Bool)]] = []
    var isHere = true
    for line in listing.split(separator: UInt8(ascii: "\n")) {
      let fields = String(decoding: line, as: UTF8.self).split(
        separator: ":", omittingEmptySubsequences: false)
      switch fields[0] {
      case "pub", "sec", "sub", "ssb":
        if fields[0] == "pub" || fields[0] == "sec" { blocks.append([]) }
        // Field 15 is the place of the secret.
        isHere = !secretOnly || fields.count < 15 || fields[14] != "#"
      case "fpr" where fields.count > 9 && !blocks.isEmpty:
        blocks[blocks.count - 1].append((Fingerprint(String(fields[9])), isHere))
      default: break
      }
    }
    return blocks.allSatisfy { block in
      guard let primary = block.first?.fingerprint else { return true }
      return block.allSatisfy { subkey in
        subkey.fingerprint.map { known[primary]?[$0] == subkey.isHere } ?? true
      }
    }
  }
}
