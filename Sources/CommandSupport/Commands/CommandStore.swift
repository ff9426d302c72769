internal import Arguments
package import Keyring
internal import KeyringModel
package import OpenPGP
internal import Sync
internal import Terminal

/// Methods that open a store and find its items, shared by all commands.
extension CommandCall {
  /// Returns the path of the store.
  ///
  /// - Throws: `storeLocationUnknown`.
  package func storePath() throws -> String { try store.path() }

  /// Returns the facts about this machine that the library needs.
  ///
  /// - Throws: `other` if neither `HOME` nor the `XDG` variables name the folders.
  package func host() throws -> HostContext { try store.host() }

  /// Returns the index with the attributes of all items. A command that receives only the index cannot decrypt.
  ///
  /// - Throws: `KeyringError` with the reason why the index cannot be opened.
  package func openIndex() throws -> Index { try store.index() }

  /// Returns the keyring. If opening it accepts a newer policy, the changes are reported.
  ///
  /// - Throws: `KeyringError` with the reason why the store cannot be opened or trusted.
  package func openKeyring() throws -> Keyring {
    try store.keyring { keyring in
      reportNewPolicy(of: keyring)
      if keyring.distrust != nil, let error = store.historyError {
        console.complain("keytree: warning: cannot read the policies in the history")
        for line in ErrorReport(describing: error).lines { console.complain(line) }
      }
      // A command can open the keyring again, such as `sync` with the merged policy.
      if let removed = keyring.policy.people[keyring.ownFingerprint]?.removed, store.warnsOfRemoval() {
        console.complain(
          "keytree: warning: you were removed from this keyring on \(removed.day); you cannot read items that "
            + "were encrypted since then")
      }
    }
  }

  /// The time before the end of the user's own key from which every command that writes says so: 14 days, in
  /// microseconds.
  private static let notice: Int64 = 14 * 86_400 * 1_000_000

  /// Warns in one line if the user's own key ends soon. Uses what was listed before, so it starts no process.
  package func warnOfOwnKeyEnd() {
    guard let keyring = store.openedKeyring, keyring.distrust == nil else { return }
    let now = environment.clock()
    let soon = Timestamp(microseconds: now.microseconds + Self.notice)
    for (person, end) in keyring.ends(before: soon, of: keyring.rememberedKeys())
    where person == keyring.ownFingerprint && end > now {
      console.say(
        "keytree: warning: your key \(person.text) \(ErrorReport.expiry(at: end, now: now)); "
          + "`keytree doctor` shows what to do")
    }
  }

  /// Reports a newly accepted policy, even with `--quiet`, so that no reader is added silently.
  private func reportNewPolicy(of keyring: Keyring) {
    guard let before = keyring.policyBefore else { return }
    let policy = keyring.policy
    console.complain(
      "keytree: an admin changed the policy (generation \(policy.generation)):")
    let lines = PolicyDifference(from: before, to: policy).lines
    for line in lines.isEmpty ? ["  no change of people or groups"] : lines { console.complain("  " + line) }
  }

  /// Warns of damage in the index, even with `--quiet`, because the result may lack items.
  package func tell(_ problems: [IndexProblem]) {
    for problem in problems.prefix(Self.problemLimit) {
      console.complain(
        "keytree: warning: \(problem.file): \(problem.problem.message)")
    }
    if let rest = Self.words(forRestOf: problems) { console.complain("keytree: warning: \(rest)") }
  }

  /// The number of index problems that are listed individually. `check` lists all.
  package static let problemLimit = 10

  /// Returns a message with the number of problems that are not listed individually, or nil if all are listed.
  package static func words(forRestOf problems: [IndexProblem]) -> String? {
    let rest = problems.count - problemLimit
    return rest > 0 ? "\(rest) more problems in the index; `keytree check` lists all of them" : nil
  }

  /// Returns the user's settings.
  ///
  /// - Throws: the errors of `ConfigurationFile.read`.
  package func configuration() throws -> Configuration { try store.configuration() }

  /// Returns the item name as the user typed it, for messages. It is escaped; a second escaping does not change it.
  package func nameForMessages(_ index: Int) -> String {
    let name = arguments.operand(index).map { Escaping.terminal.show($0.bytes) } ?? "these attributes"
    let field = arguments.text(AttributeOptions.field)
    return field.map { "\(name) --field \(Escaping.terminal.show(Array($0.utf8)))" } ?? name
  }

  /// Reports the cost of a search, if `--explain` was given.
  package func explain(_ statistics: SearchStatistics) {
    guard globals.explain else { return }
    console.complain("explain: shards read: \(statistics.shardsRead)")
    console.complain("explain: lines parsed: \(statistics.linesParsed)")
  }

  /// Reports the cost of cryptography, if `--explain` was given.
  package func explain(_ statistics: EngineStatistics) {
    guard globals.explain else { return }
    console.complain("explain: items decrypted: \(statistics.decryptions)")
    console.complain("explain: signatures made: \(statistics.signatures)")
    console.complain("explain: processes started: \(statistics.processes)")
  }
}

extension EngineStatistics {
  /// Returns the sum of the work of two engines.
  package static func + (left: EngineStatistics, right: EngineStatistics) -> EngineStatistics {
    EngineStatistics(
      decryptions: left.decryptions + right.decryptions, encryptions: left.encryptions + right.encryptions,
      signatures: left.signatures + right.signatures, processes: left.processes + right.processes)
  }
}
