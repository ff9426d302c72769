internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Terminal

/// The facts about a store for `status`.
struct StoreStatus {
  private let path: String
  private var keyring: Keyring?
  private(set) var distrust: PolicyDistrust?
  private let unfinished: [String]
  private let quarantines: [String]
  private let counts: [ItemClass: Int]
  private let localCount: Int
  private let conflictCopies: Int
  private let damage: [IndexProblem]
  private let expiring: [(fingerprint: Fingerprint, expires: Timestamp)]
  private var foreignFiles: [ForeignFileEntry] = []
  private let history: HistoryFacts
  /// The changes of the user's own keys that their GnuPG keyring has and the store lacks.
  private let news: [OwnKeyNews]
  let statistics: SearchStatistics

  init(_ call: CommandCall) throws {
    path = try call.storePath()
    let host = try call.host()
    let index = try call.openIndex()
    // Before the search, which completes unfinished changes.
    unfinished = try index.unfinishedChanges()
    quarantines = try index.quarantines()
    let found = try index.counts()
    (counts, localCount) = (found.items, found.local)
    conflictCopies = try index.conflictCopyCount()
    (damage, statistics) = (found.problems, found.statistics)
    history = HistoryFacts(call)
    do {
      let keyring = try call.openKeyring()
      distrust = keyring.distrust
      self.keyring = keyring
      foreignFiles = try call.foreignFiles(
        in: keyring, shown: call.globals.json ? nil : CommandCall.problemLimit, isQuick: true)
    } catch KeyringError.policyNotTrusted(let reason) {
      distrust = reason
    }
    let soon = Timestamp(microseconds: host.clock().microseconds + StoreVerification.notice)
    // `doctor` reports keys that cannot be listed, and the rest of the status does not depend on them.
    let stored = keyring.flatMap { try? $0.publicKeys() } ?? []
    news = keyring.map { OwnKeyNews.list(of: $0, stored, host) } ?? []
    expiring = keyring?.ends(before: soon, of: stored).map { ($0.person, $0.end) } ?? []
  }

  /// The facts, for people.
  var facts: FactList {
    var list = FactList()
    list.add("store", path)
    if let keyring { list.add("keyring", keyring.policy.keyring.hex) }
    list.add("items", countWords)
    list.add("git", history.message)
    if conflictCopies > 0 {
      let copies = conflictCopies == 1 ? "1 conflict copy" : "\(conflictCopies) conflict copies"
      list.add("conflicts", "\(copies); `keytree resolve` lists them")
    }
    for entry in foreignFiles.prefix(CommandCall.problemLimit) { list.add("not adopted", entry.line) }
    if !foreignFiles.isEmpty {
      let rest = foreignFiles.count - CommandCall.problemLimit
      list.add(
        "not adopted", (rest > 0 ? "\(rest) more; " : "") + "`keytree adopt` lists all and takes them in")
    }
    list.add("policy", policyWords)
    keyring?.policy.addFacts(to: &list, me: keyring?.ownFingerprint)
    for (fingerprint, expires) in expiring {
      list.add("expires", "\(fingerprint.text)  \(name(fingerprint)), \(expires.day)")
    }
    for key in news { list.add("key", key.line(isOnly: news.count == 1)) }
    for problem in damage.prefix(CommandCall.problemLimit) {
      list.add("damage", "\(problem.file): \(problem.problem.message)")
    }
    if let rest = CommandCall.words(forRestOf: damage) { list.add("damage", rest) }
    for folder in unfinished { list.add("unfinished", folder) }
    for folder in quarantines { list.add("quarantine", folder) }
    return list
  }

  private var countWords: String {
    let parts = ItemClass.allCases.compactMap { itemClass in
      counts[itemClass].map { "\($0) \(itemClass.rawValue)" }
    }
    guard !parts.isEmpty else { return "none" }
    return parts.joined(separator: ", ") + (localCount > 0 ? "; \(localCount) on this machine only" : "")
  }

  private var policyWords: String {
    if let distrust { return "NOT TRUSTED: \(distrust.message)" }
    guard let policy = keyring?.policy else { return "" }
    return "generation \(policy.generation), accepted"
  }

  private func name(_ fingerprint: Fingerprint) -> String {
    keyring?.policy.name(of: fingerprint) ?? fingerprint.text
  }

  /// The facts as JSON.
  var json: JSONValue {
    var members = [
      JSONMember("store", .string(path)),
      JSONMember(
        "items",
        .object(
          ItemClass.allCases.map { JSONMember($0.rawValue, .integer(Int64(counts[$0] ?? 0))) }
            + [JSONMember("local", .integer(Int64(localCount)))])),
      JSONMember("conflictCopies", .integer(Int64(conflictCopies))),
      JSONMember("git", history.json),
      JSONMember("notAdopted", .array(foreignFiles.map { .object($0.members) })),
      JSONMember("trusted", .bool(distrust == nil)),
      JSONMember("unfinished", .array(unfinished.map { .string($0) })),
      JSONMember("quarantines", .array(quarantines.map { .string($0) })),
      JSONMember(
        "damage",
        .array(
          damage.map { problem in
            .object([
              JSONMember("path", .string(problem.file)),
              JSONMember("text", .string(problem.problem.message)),
            ])
          })),
      JSONMember(
        "expiring",
        .array(
          expiring.map { key in
            .object([
              JSONMember("fingerprint", .string(key.fingerprint.text)),
              JSONMember("expires", .string(key.expires.rfc3339)),
            ])
          })),
    ]
    if !news.isEmpty {
      members.append(JSONMember("keyNews", .array(news.flatMap(\.changes).map { .string($0) })))
    }
    if let distrust { members.append(JSONMember("distrust", .string(distrust.message))) }
    if let policy = keyring?.policy {
      members += [
        JSONMember("keyring", .string(policy.keyring.hex)),
        JSONMember("generation", .integer(Int64(policy.generation))),
        JSONMember("people", policy.peopleJSON), JSONMember("groups", policy.groupsJSON),
      ]
    }
    return .object(members)
  }
}
