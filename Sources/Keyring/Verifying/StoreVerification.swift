package import KeyringModel
internal import OpenPGP

/// What can be said about a store without a key: everything that `check` looks at but for the pin, and the key files.
package struct StoreVerification: Sendable {
  /// What is wrong, by path.
  package var findings: [Finding] = []
  /// What will be wrong soon.
  package var warnings: [Finding] = []
  /// How many items the index has.
  package var items = 0

  /// How long before its end a key is worth a word: 60 days, in microseconds.
  package static let notice: Int64 = 60 * 86_400 * 1_000_000
}

extension Keyring {
  /// Opens a store for looking only, by its own policy, whoever has accepted that.
  ///
  /// Nothing can be written, nothing is decrypted, no pin is read or made. A key file that is missing is no error here:
  /// `verify` tells of it.
  ///
  /// - Parameters:
  ///   - path: the store's folder.
  ///   - room: where GnuPG works.
  /// - Throws: `KeyringError.noStore`, `.unsafeFolder`, `.policyNotTrusted` when the policy cannot be read, or a file
  ///   error.
  package static func forVerification(
    at path: String, in room: VerificationRoom
  ) throws(KeyringError) -> Keyring {
    let tree = try StoreFolder.open(path)
    let state = try PolicyState(in: tree)
    let people = state.policy.people.filter { $0.value.removed == nil }.keys
    let keys = try tree.keyFiles(of: people)
    return Keyring(
      tree: tree, trusted: TrustedPolicy(unaccepted: state.policy, keys: keys),
      engine: room.engine(for: state.policy.keyring, keys: keys), host: room.context)
  }

  /// Looks at everything that needs no key. Nothing is changed and no lock is taken.
  ///
  /// - Parameters:
  ///   - room: where GnuPG works.
  ///   - progress: told how many of how many items are done.
  /// - Throws: as `check(decrypts:progress:)`, but never `busy`.
  package func verify(
    in room: VerificationRoom, progress: @escaping (Int, Int) -> Void = { _, _ in }
  ) throws(KeyringError) -> StoreVerification {
    var check = StoreCheck(keyring: self, decrypts: false, progress: progress)
    check.comparesPolicy = false
    var report = CheckReport()
    // A finding about a state that never was goes away when no writer is at work.
    for _ in 0..<3 {
      let before = try ReaderSnapshot(of: tree)
      report = try check.run()
      let isQuiet = try ReaderSnapshot(of: tree) == before
      if report.isClean || isQuiet { break }
    }
    var result = StoreVerification()
    result.items = report.items
    result.findings = report.findings + (try keyFileFindings(room))
    result.findings.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    result.warnings = try keyWarnings()
    return result
  }

  /// Makes ready what an audit needs, however many items there are.
  ///
  /// - Throws: what concerns the engine.
  package func prepareAudit() throws(KeyringError) {
    do throws(EngineError) {
      _ = try engine.publicKeys()
    } catch {
      throw .engine(error, nil)
    }
  }

  /// The items that are not encrypted to exactly the people of their groups, and records that are not believed.
  ///
  /// - Returns: the findings, and how many items were looked at.
  /// - Throws: what concerns the engine, or a file error.
  package func auditRecipients() throws(KeyringError) -> StoreVerification {
    var result = StoreVerification()
    let check = StoreCheck(keyring: self, decrypts: false) { _, _ in }
    let survey = try StoreSurvey(of: self)
    let looks = try check.looks(at: survey.items, LineTable(survey.shards))
    result.items = looks.count
    result.findings = looks.flatMap(\.findings)
    return result
  }

  /// Key files that are not what the policy says, or hold more than one key.
  private func keyFileFindings(_ room: VerificationRoom) throws(KeyringError) -> [Finding] {
    let files = trusted.keys.sorted { $0.key < $1.key }.map { (person: $0.key, bytes: $0.value) }
    var findings: [Finding] = []
    for (person, bytes) in files {
      if !policy.covers(bytes, of: person) {
        findings.append(Finding(StoreLayout.keyFile(person), .keyFile(person, .notInPolicy)))
      }
    }
    do throws(EngineError) {
      let faults = try KeyFileFaults(of: files) { (bytes) throws(EngineError) in try room.keys(in: bytes) }
      return findings
        + faults.list.map { Finding(StoreLayout.keyFile($0.person), .keyFile($0.person, $0.fault)) }
    } catch {
      throw .engine(error, nil)
    }
  }

  private func keyWarnings() throws(KeyringError) -> [Finding] {
    let now = host.clock()
    let soon = now.microseconds + StoreVerification.notice
    do throws(EngineError) {
      return try engine.publicKeys().compactMap { key in
        guard let end = key.lastDay, end > now, end.microseconds <= soon else { return nil }
        return Finding(StoreLayout.keyFile(key.fingerprint), .keyEnds(key.fingerprint, end))
      }
    } catch {
      throw .engine(error, nil)
    }
  }
}

extension FileTree {
  /// The key files of some people, as far as they are there and are files of their own.
  ///
  /// - Throws: a file error of the system.
  package func keyFiles(of people: some Sequence<Fingerprint>) throws(KeyringError) -> KeyFiles {
    var reader = KeyFileReader(self)
    var keys: KeyFiles = [:]
    for person in people {
      do throws(FileError) {
        keys[person] = try reader.read(person)
      } catch {
        switch error.reason {
        // The survey of the store tells what stands there instead.
        case .notARegularFile, .hasOtherNames: continue
        case .tooLarge where error.path != StoreLayout.keys: continue
        case .tooLarge, .system: throw .file(error)
        }
      }
    }
    return keys
  }
}

/// What this machine has accepted of a keyring, for those who only look.
package struct AcceptedPolicy: Sendable {
  /// The generation that was accepted.
  package let generation: Int
  /// The digest of that policy.
  package let digest: ContentDigest

  /// Reads the pin; nil when this machine has accepted nothing.
  ///
  /// - Throws: `KeyringError.policyNotTrusted(.pinUnreadable)`, `.unsafeFolder`, or a file error.
  package init?(of keyring: KeyringID, stateBase: String) throws(KeyringError) {
    guard let pin = try PinStore(base: stateBase, keyring: keyring).readPin() else { return nil }
    (generation, digest) = (pin.generation, pin.digest)
  }
}
