internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Sync
internal import Terminal

/// A file that was left as it is, and the reason.
struct AdoptionRefusal: Error {
  /// The outcome of a file for which the user's answer was no.
  static let declined = "declined"

  let entry: ForeignFileEntry
  /// The outcome in the JSON output.
  let outcome: String
  let reason: String
  let code: ExitCode

  /// Creates a refusal.
  init(_ entry: ForeignFileEntry, as outcome: String = "unreadable", _ reason: String, _ code: ExitCode) {
    (self.entry, self.outcome, self.reason, self.code) = (entry, outcome, reason, code)
  }

  /// The refusal of a file that has changed since it was listed.
  static func changedSince(_ entry: ForeignFileEntry) -> AdoptionRefusal {
    AdoptionRefusal(entry, as: "changed", "it was changed again at the same time", .failure)
  }
}

/// An adoption of files of other programs: asks, decrypts, stores, and reports each file.
struct AdoptionRun {
  let call: CommandCall
  let keyring: Keyring
  /// True if the user is asked about each file.
  let asks: Bool

  // MARK: Adopting

  /// Takes in files.
  ///
  /// - Returns: Success, or the exit code of the first file that was left as it is.
  /// - Throws: An error that concerns all files, such as a cancelled prompt. Nothing was changed then.
  func adopt(_ entries: [ForeignFileEntry]) throws -> ExitCode {
    let group = try call.givenAttributes().group
    try call.requireWritable(keyring, group: group)
    var refusals: [AdoptionRefusal] = []
    let writable = entries.filter { entry in
      guard let item = entry.file.item, let refusal = keyring.refusal(of: entry, for: item.group) else {
        return true
      }
      refusals.append(refusal)
      return false
    }
    let readers = AdoptionReaders(
      call: call, policy: keyring.policy, me: keyring.ownFingerprint, group: group)
    let allowed = try newest(of: notCopied(writable, &refusals), &refusals).filter { entry in
      guard !asks, let refusal = readers.refusal(of: entry) else { return true }
      refusals.append(refusal)
      return false
    }
    let agreed = try confirmed(allowed, &refusals) { entry in
      readers.show(entry)
      return "Adopt \(entry.name)"
    }
    if agreed.isEmpty { return finish(refusals, "adopt") }
    let decryptor = try MessageDecryptor(host: try call.host())
    defer { call.explain(keyring.engineStatistics + decryptor.statistics) }
    let contents = AdoptedContents(
      call: call, keyring: keyring, decryptor: decryptor, group: group, asks: asks,
      originals: try originals(of: agreed))
    var adoptions: [(entry: ForeignFileEntry, adoption: Adoption)] = []
    for entry in agreed {
      do {
        adoptions.append((entry, Adoption(entry.file, try contents.content(of: entry))))
      } catch let refusal as AdoptionRefusal {
        refusals.append(refusal)
      }
    }
    let outcomes = adoptions.isEmpty ? [] : try keyring.adopt(adoptions.map(\.adoption))
    for ((entry, _), outcome) in zip(adoptions, outcomes) {
      switch outcome {
      case .adopted(let records): report(entry, "adopted", records)
      case .exists(let reference):
        refusals.append(AdoptedContents.exists(entry, reference, group ?? GroupName.default))
      case .changedSince: refusals.append(.changedSince(entry))
      }
    }
    return finish(refusals, "adopt")
  }

  /// Returns the files without those that change the same item as a newer one.
  private func newest(
    of entries: [ForeignFileEntry], _ refusals: inout [AdoptionRefusal]
  ) -> [ForeignFileEntry] {
    let changes = Dictionary(grouping: entries.filter { $0.file.item != nil }) { $0.file.item?.id }
    let older = Set(
      changes.values.flatMap { changes in
        changes.sorted { ($0.time, $0.file.path) > ($1.time, $1.file.path) }.dropFirst().map(\.file.path)
      })
    return entries.filter { entry in
      guard older.contains(entry.file.path) else { return true }
      refusals.append(
        AdoptionRefusal(
          entry, as: "older", "another file has a newer change of the item (`--undo` moves this one away)",
          .alreadyExists))
      return false
    }
  }

  /// Returns the files that are not copies. A copy of a file that only this user can read would give its secret to the
  /// members of the group.
  private func notCopied(
    _ entries: [ForeignFileEntry], _ refusals: inout [AdoptionRefusal]
  ) throws -> [ForeignFileEntry] {
    let copies = try MessageCopies(among: entries.map(\.file), of: keyring, in: try call.repository())
    return entries.filter { entry in
      guard let origin = copies.origin(of: entry.file) else { return true }
      let reason =
        switch origin {
        case .file(let path): "it is a copy of \(ErrorReport.quoteCompact(path))"
        case .earlierVersion:
          "it is an older or damaged version of this file (`keytree check --repair` restores a damaged one)"
        }
      refusals.append(AdoptionRefusal(entry, as: "copy", reason, .damaged))
      return false
    }
  }

  /// Returns the files of changed items as their records describe them; empty without a history.
  private func originals(of entries: [ForeignFileEntry]) throws -> [String: [UInt8]] {
    let items = entries.compactMap(\.file.item)
    guard !items.isEmpty, let repository = try call.repository() else { return [:] }
    return try HistoricalFiles(in: repository).originals(of: items)
  }

  // MARK: Undoing

  /// Restores the files of changed items, and moves new files to a quarantine folder.
  ///
  /// - Returns: Success, or the exit code of the first file that was left as it is.
  func undo(_ entries: [ForeignFileEntry]) throws -> ExitCode {
    var refusals: [AdoptionRefusal] = []
    let agreed = try confirmed(entries, &refusals) {
      $0.file.replacesItemFile ? "Restore the old file of \($0.name)" : "Quarantine \($0.name)"
    }
    let originals = try originals(of: agreed)
    let done = agreed.isEmpty ? [:] : try keyring.undo(agreed.map(\.file), originals: originals)
    for entry in agreed {
      if let outcome = done[entry.file.path] {
        report(entry, "undone", [])
        switch outcome {
        case .restored: call.console.say("Restored \(entry.name).")
        case .quarantined(let path):
          call.console.say("Moved \(entry.name) to \(ErrorReport.quoteCompact(path)).")
        }
      } else if entry.file.replacesItemFile, originals[entry.file.path] == nil {
        let reason =
          try call.repository() == nil
          ? "the store has no history with the old file"
          : "the old file is not in the history (`keytree rm` removes the item)"
        refusals.append(AdoptionRefusal(entry, reason, .damaged))
      } else {
        refusals.append(.changedSince(entry))
      }
    }
    return finish(refusals, "undo")
  }

  // MARK: Questions and reports

  /// Lists the files, and then asks about each.
  private func confirmed(
    _ entries: [ForeignFileEntry], _ refusals: inout [AdoptionRefusal],
    _ question: (ForeignFileEntry) -> String
  ) throws -> [ForeignFileEntry] {
    if !asks { return entries }
    for entry in entries { call.console.complain(entry.line) }
    var agreed: [ForeignFileEntry] = []
    for entry in entries {
      if try call.console.confirm(question(entry)) {
        agreed.append(entry)
      } else {
        refusals.append(AdoptionRefusal(entry, as: AdoptionRefusal.declined, "it stays as it is", .cancelled))
      }
    }
    return agreed
  }

  private func report(_ entry: ForeignFileEntry, _ outcome: String, _ records: [ItemRecord]) {
    if call.globals.json { print(entry, outcome, records) }
    if let first = records.first {
      call.console.say("Adopted \(entry.name) as \(call.name(of: first)).")
    }
  }

  private func print(_ entry: ForeignFileEntry, _ outcome: String, _ records: [ItemRecord]) {
    let stored = records.map { JSONValue.string($0.reference.text) }
    call.console.print(
      json: .object(
        entry.members + [JSONMember("outcome", .string(outcome)), JSONMember("stored", .array(stored))]))
  }

  /// Reports the files that were left as they are.
  ///
  /// - Parameter verb: The action, for the messages.
  private func finish(_ refusals: [AdoptionRefusal], _ verb: String) -> ExitCode {
    for refusal in refusals {
      if call.globals.json { print(refusal.entry, refusal.outcome, []) }
      let name = refusal.entry.name
      if refusal.outcome != AdoptionRefusal.declined {
        call.console.complain("keytree: cannot \(verb) \(name): \(refusal.reason)")
      } else {
        call.console.say("\(name): \(refusal.reason)")
      }
    }
    return refusals.first { $0.code != .cancelled }?.code ?? refusals.first?.code ?? .done
  }
}

extension Keyring {
  /// Returns the refusal of a file whose content would be stored in a group; nil if this user is a member of it.
  func refusal(of entry: ForeignFileEntry, for group: String) -> AdoptionRefusal? {
    if policy.groups[group]?.contains(ownFingerprint) ?? false { return nil }
    return AdoptionRefusal(
      entry, as: "notInGroup", "you are not a member of group \(ErrorReport.quote(group))", .recipientUnusable
    )
  }
}
