package import KeyringModel
internal import OpenPGP

/// The result of verifying a store without a secret key. It covers everything that `check` covers except the pin, and
/// also the key files.
package struct StoreVerification: Sendable {
  /// The problems, sorted by path.
  package var findings: [Finding] = []
  /// Problems that do not make the store invalid: a key that is about to expire, and a file of another program that no
  /// member has adopted.
  package var warnings: [Finding] = []
  /// The number of items in the store.
  package var items = 0

  /// The time before a key's expiry at which warnings start: 60 days, in microseconds.
  package static let notice: Int64 = 60 * 86_400 * 1_000_000
}

extension Keyring {
  /// Opens a store read-only with its own policy, whether this machine has accepted the policy or not.
  ///
  /// Nothing can be written or decrypted, and no pin is read or created. A missing key file is not an error here:
  /// `verify` reports it.
  ///
  /// - Parameters:
  ///   - path: The store's folder.
  ///   - room: The workspace for GnuPG.
  /// - Throws: `KeyringError.noStore`, `.unsafeFolder`, `.policyNotTrusted` when the policy cannot be read, or a file
  ///   error.
  package static func forVerification(
    at path: String, in room: VerificationWorkspace
  ) throws(KeyringError) -> Keyring {
    let tree = try StoreFolder.open(path)
    let state = try PolicyState(in: tree)
    let people = state.policy.people.filter { $0.value.removed == nil }.keys
    let keys = try tree.keyFiles(of: people)
    return Keyring(
      tree: tree, trusted: TrustedPolicy(unaccepted: state.policy, keys: keys),
      engine: room.engine(for: state.policy.keyring, keys: keys), host: room.context)
  }

  /// Checks everything that needs no secret key. It changes nothing and takes no lock.
  ///
  /// - Parameters:
  ///   - room: The workspace for GnuPG.
  ///   - progress: Receives the number of finished items and of all items.
  /// - Throws: The errors of `check(decrypts:progress:)` except `busy`.
  package func verify(
    in room: VerificationWorkspace, progress: @escaping (Int, Int) -> Void = { _, _ in }
  ) throws(KeyringError) -> StoreVerification {
    var check = StoreCheck(keyring: self, decrypts: false, progress: progress)
    check.comparesPolicy = false
    var report = CheckReport()
    let keyFiles = try keyFileFindings(room)
    do throws(KeyringError) {
      report = try runQuietly(check)
    } catch {
      guard let findings = Self.findings(about: error, besides: keyFiles) else { throw error }
      return StoreVerification(findings: findings)
    }
    var result = StoreVerification()
    result.items = report.items
    let findings = try namingChanges(in: report.findings)
    let adoptable = try adoptablePaths(among: findings)
    let waiting = try recipientsThatWait(among: findings)
    func isWarning(_ finding: Finding) -> Bool {
      adoptable.contains(finding.path) || finding.kind.isOfKeyThatEnded || waiting.contains(finding)
    }
    result.findings = findings.filter { !isWarning($0) } + keyFiles
    result.findings.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    // A push by a phone app must not be refused, and nothing uses these files before a member has adopted them.
    // A key that has expired or was revoked makes no item and no policy invalid.
    result.warnings = findings.filter(isWarning) + (try keyWarnings())
    return result
  }

  /// Returns the findings about recipients of items that cannot be re-encrypted now, because the key of a member of the
  /// group has expired or was revoked. All their readers are people of the policy, removed ones included.
  private func recipientsThatWait(among findings: [Finding]) throws(KeyringError) -> [Finding] {
    var found: [(finding: Finding, readers: [KeyID], expected: Set<KeyID>)] = []
    for finding in findings {
      guard case .wrongRecipients(let readers, let expected) = finding.kind else { continue }
      found.append((finding, readers, Set(expected)))
    }
    if found.isEmpty { return [] }
    let ended = try unusableKeys(ofMembersOf: Set(policy.groups.keys)).filter { $0.problem.hasEnded }
    let blocked = Set(ended.flatMap(\.groups)).compactMap(policy.recipients)
    if blocked.isEmpty { return [] }
    let owners = try owners(of: Set(found.flatMap(\.readers)))
    return found.filter { item in
      blocked.contains(item.expected) && item.readers.allSatisfy { !(owners[$0] ?? []).isEmpty }
    }.map(\.finding)
  }

  /// Returns the findings about key files that prevent GnuPG from judging anything; nil for another error.
  private static func findings(about error: KeyringError, besides keyFiles: [Finding]) -> [Finding]? {
    func isKnown(_ person: Fingerprint) -> Bool {
      keyFiles.contains { $0.path == StoreLayout.keyFile(person) }
    }
    switch error {
    // If the key file of a person is damaged, nothing of theirs can be judged. The finding about the file says why.
    case .team(.unreadableKey(let person, _, _)): return isKnown(person) ? keyFiles : nil
    case .policyNotTrusted(.foreignSubkey(let foreign)), .engine(.foreignSubkey(let foreign), _):
      if isKnown(foreign.person) { return keyFiles }
      return keyFiles + [Finding(StoreLayout.keyFile(foreign.person), .policy(.foreignSubkey(foreign)))]
    default: return nil
    }
  }

  /// Runs a check until no other process writes. While one writes, a finding may describe a state that never existed.
  private func runQuietly(_ check: StoreCheck) throws(KeyringError) -> CheckReport {
    var report = CheckReport()
    for _ in 0..<3 {
      let before = try ReaderSnapshot(of: tree)
      report = try check.run()
      let isQuiet = try ReaderSnapshot(of: tree) == before
      if report.isClean || isQuiet { break }
    }
    return report
  }

  /// Prepares the engine for an audit, at a cost that does not depend on the number of items.
  ///
  /// - Throws: An engine error.
  package func prepareAudit() throws(KeyringError) {
    do throws(EngineError) {
      _ = try engine.publicKeys()
    } catch {
      throw .engine(error, nil)
    }
  }

  /// Checks the recipients and records of all items.
  ///
  /// - Returns: Findings for items that are not encrypted to exactly the members of their groups and for records that
  ///   are not verified, and the number of checked items.
  /// - Throws: An engine error, or a file error.
  package func auditRecipients() throws(KeyringError) -> StoreVerification {
    var result = StoreVerification()
    let check = StoreCheck(keyring: self, decrypts: false) { _, _ in }
    let survey = try StoreSurvey(of: self)
    let looks = try check.looks(at: survey.items, LineTable(survey.shards))
    result.items = looks.count
    result.findings = looks.flatMap(\.findings)
    return result
  }

  /// Returns findings for key files that differ from the policy, or contain more than one key.
  private func keyFileFindings(_ room: VerificationWorkspace) throws(KeyringError) -> [Finding] {
    let files = trusted.keys.sorted { $0.key < $1.key }.map { (person: $0.key, bytes: $0.value) }
    var findings: [Finding] = []
    for (person, bytes) in files {
      if !policy.covers(bytes, of: person) {
        findings.append(Finding(StoreLayout.keyFile(person), .keyFile(person, .notInPolicy)))
      }
    }
    do throws(EngineError) {
      let faults = try KeyFileProblems(of: files) { (bytes) throws(EngineError) in try room.keys(in: bytes) }
      return findings
        + faults.list.map { Finding(StoreLayout.keyFile($0.person), .keyFile($0.person, $0.fault)) }
    } catch {
      throw .engine(error, nil)
    }
  }

  private func keyWarnings() throws(KeyringError) -> [Finding] {
    let now = host.clock()
    let soon = Timestamp(microseconds: now.microseconds + StoreVerification.notice)
    return ends(before: soon, of: try publicKeys()).filter { $0.end > now }.map { person, end in
      Finding(StoreLayout.keyFile(person), .keyEnds(person, end))
    }
  }
}

extension FileTree {
  /// Returns the key files of some people. Files that are missing or are not regular files with one name are left out.
  ///
  /// - Throws: A file error of the system.
  package func keyFiles(of people: some Sequence<Fingerprint>) throws(KeyringError) -> KeyFiles {
    var reader = KeyFileReader(self)
    var keys: KeyFiles = [:]
    for person in people {
      do throws(FileError) {
        keys[person] = try reader.read(person)
      } catch {
        switch error.reason {
        // The survey of the store reports what is at this path.
        case .notARegularFile, .hasOtherNames: continue
        case .tooLarge where error.path != StoreLayout.keys: continue
        case .tooLarge, .system: throw .file(error)
        }
      }
    }
    return keys
  }
}

/// The accepted policy of a keyring on this machine, for read-only use.
package struct AcceptedPolicy: Sendable {
  /// The generation that was accepted.
  package let generation: Int
  /// The digest of that policy.
  package let digest: ContentDigest

  /// Reads the pin; nil when this machine has accepted no policy.
  ///
  /// - Throws: `KeyringError.policyNotTrusted(.pinUnreadable)`, `.unsafeFolder`, or a file error.
  package init?(of keyring: KeyringID, stateBase: String) throws(KeyringError) {
    guard let pin = try PinStore(base: stateBase, keyring: keyring).readPin() else { return nil }
    (generation, digest) = (pin.generation, pin.digest)
  }
}
