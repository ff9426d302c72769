internal import Arguments
package import Keyring
package import KeyringModel
package import OpenPGP
internal import Sync

/// The way from a command line to a store: what is opened, found and chosen in the same words everywhere.
extension CommandCall {
  /// What the library has to know of this machine.
  ///
  /// - Throws: `storeLocationUnknown` when neither `HOME` nor the `XDG` variables say where things are.
  package func host() throws -> HostContext {
    guard let engineBase = environment.runtimeBase, let state = environment.stateHome else {
      throw CommandError.storeLocationUnknown(reason: "`HOME` is not set")
    }
    return HostContext(
      gnupgHome: environment.gnupgHome, engineBase: engineBase, stateBase: "\(state)/keytree",
      searchPath: environment.searchPath, interaction: globals.noInput ? .never : .pinentry,
      workers: environment.workers, clock: environment.clock)
  }

  /// The attributes of all items: a command that is handed only this cannot decrypt.
  ///
  /// - Throws: `keyring` with the reason why there is no store to read.
  package func openIndex() throws -> Index {
    let (path, host) = (try storePath(), try host())
    return try Index.open(at: path, host: host)
  }

  /// The whole store. When another policy is accepted on the way, it is told what changes.
  ///
  /// - Throws: `keyring` with the reason why it cannot be opened or trusted.
  package func openKeyring() throws -> Keyring {
    let (path, host) = (try storePath(), try host())
    let keyring: Keyring = try Keyring.open(
      at: path, host: host, faults: nil, engine: nil, past: pastPolicies)
    tellNewPolicy(of: keyring)
    if let removed = keyring.policy.people[keyring.ownFingerprint]?.removed {
      console.complain(
        "keytree: warning: you were removed from this keyring on \(removed.rfc3339); what was sealed since is for "
          + "others")
    }
    return keyring
  }

  /// The policies of the history. Where git cannot be asked, none is known, and the store stays untrusted.
  private func pastPolicies() -> PastPolicySteps {
    guard let repository = try? repository(), let steps = try? PastPolicies(in: repository).steps() else {
      return PastPolicySteps([])
    }
    return steps
  }

  /// Nobody becomes a reader without a word, quiet or not.
  private func tellNewPolicy(of keyring: Keyring) {
    guard let before = keyring.policyBefore else { return }
    let policy = keyring.policy
    console.complain(
      "keytree: people or groups have changed (generation \(policy.generation)), signed by an admin:")
    let lines = PolicyDifference(from: before, to: policy).lines
    for line in lines.isEmpty ? ["  no person and no group"] : lines { console.complain("  " + line) }
  }

  /// The items that are meant, in the order of their creation; damage met on the way is told.
  package func find(_ selection: ItemSelection, in index: Index) throws -> Matches {
    var matches = try index.find(selection.query)
    matches.items.removeAll { !selection.accepts($0) }
    tell(matches.problems)
    return matches
  }

  /// Warns of damage in the index, quiet or not: what it concerns may be missing from an answer.
  package func tell(_ problems: [IndexProblem]) {
    for problem in problems.prefix(Self.problemLimit) {
      console.complain(
        "keytree: warning: \(ErrorReport.show(problem.file)): \(ErrorReport.show(problem.problem.words))")
    }
    if let rest = Self.words(forRestOf: problems) { console.complain("keytree: warning: \(rest)") }
  }

  /// How many problems of the index are named one by one; `check` names all.
  static let problemLimit = 10

  /// Says how many problems are not named one by one; nil if all are.
  static func words(forRestOf problems: [IndexProblem]) -> String? {
    let rest = problems.count - problemLimit
    return rest > 0 ? "\(rest) more problems in the index; `keytree check` names all of them" : nil
  }

  /// The one item that is meant.
  ///
  /// - Parameters:
  ///   - selection: what is meant.
  ///   - operand: the position of the operand that names it, for messages.
  ///   - index: where to look.
  /// - Throws: `noMatch`, or `damagedIndex` when lines of the shards that were read are damaged and might be
  ///   it; `ambiguous` with the candidates.
  package func findOne(
    _ selection: ItemSelection, operand: Int = 0, in index: Index
  ) throws -> ItemRecord {
    let name = nameForMessages(operand)
    let matches = try find(selection, in: index)
    explain(matches.statistics)
    guard let first = matches.items.first else {
      guard matches.problems.isEmpty else { throw CommandError.noMatchButDamage(name) }
      throw CommandError.noMatch(name, fields: try fieldNames(selection, in: index))
    }
    guard matches.items.count == 1 else {
      throw CommandError.ambiguous(name, candidates: matches.items.map(\.reference.text))
    }
    return first
  }

  /// The names of fields that are left of items which are meant and gone.
  private func fieldNames(_ selection: ItemSelection, in index: Index) throws -> [String] {
    let names = try index.find(selection.ofFields.query).items
      .filter(selection.ofFields.accepts).compactMap(\.field)
    return Set(names).sorted()
  }

  /// How the person named an item, for messages: escaped, which a second escaping does not change.
  package func nameForMessages(_ index: Int) -> String {
    let name = arguments.operand(index).map { Escaping.terminal.show($0.bytes) } ?? "these attributes"
    let field = arguments.text(AttributeOptions.field)
    return field.map { "\(name) --field \(Escaping.terminal.show(Array($0.utf8)))" } ?? name
  }

  /// Tells what a search cost, when that was asked for.
  package func explain(_ statistics: SearchStatistics) {
    guard globals.explain else { return }
    console.complain("explain: shards read: \(statistics.shardsRead)")
    console.complain("explain: lines parsed: \(statistics.linesParsed)")
  }

  /// Tells what cryptography cost, when that was asked for.
  package func explain(_ statistics: EngineStatistics) {
    guard globals.explain else { return }
    console.complain("explain: items decrypted: \(statistics.decryptions)")
    console.complain("explain: signatures made: \(statistics.signatures)")
    console.complain("explain: processes started: \(statistics.processes)")
  }
}

extension EngineStatistics {
  /// What two engines have done together.
  static func + (left: EngineStatistics, right: EngineStatistics) -> EngineStatistics {
    EngineStatistics(
      decryptions: left.decryptions + right.decryptions, encryptions: left.encryptions + right.encryptions,
      signatures: left.signatures + right.signatures, processes: left.processes + right.processes)
  }
}

/// Runs something of the library; its error becomes the command's.
package func keyringCall<R: ~Copyable>(_ body: @autoclosure () throws -> R) throws -> R {
  return try body()
}
