package import Keyring
internal import KeyringModel
internal import OpenPGP

// The findings and repairs of `check`, as text for people and as single words for programs.

extension Finding.Kind {
  /// The description of the problem, which follows the path in a line. Escaped.
  package var message: String {
    switch self {
    case .shard(let problem): problem.message
    case .stray(let reason): reason.message
    case .fileMissing: "the encrypted file of this item is missing"
    case .itemMissing: "the item is in the index, but its files are missing"
    case .notAdopted: "this file has no record: another program created it, or the record was lost"
    case .changed(let recorded, let found):
      "another program changed this file\(found.map { " on \($0.day(besides: recorded))" } ?? ""); its record is of "
        + (found.map(recorded.day(besides:)) ?? recorded.day)
    case .notInIndex: "this item is not in the index"
    case .damaged(let damage): damage.message
    case .bindingMismatch(let mismatch): "binding mismatch: \(mismatch.message)"
    case .passRecipients:
      "the recipients listed for other programs differ from the members of the group `default`"
    case .undecryptable(let error):
      error.wordsForOneFile ?? ErrorReport(error, item: nil).message ?? "it cannot be decrypted"
    case .wrongRecipients(let found, let expected):
      "it is encrypted to \(Self.list(found)), but its group has \(Self.list(expected))"
    case .unknownGroup(let group):
      "its recipients cannot be checked: the policy has no group \(ErrorReport.quote(group))"
    case .unsafe(.ownedBy(let user)): "it belongs to user \(user), who can change it"
    case .unsafe(.writableByOthers): "others can write to it (`chmod go-w` removes the permission)"
    case .policy(let distrust): "the policy is not trusted: \(distrust.message)"
    case .key(_, let problem): "this key cannot be used: \(problem.message)"
    case .keyEnds(_, let end): "this key expires soon (\(end.day))"
    case .keyFile(_, let fault): fault.message
    case .chain(let problem): "the policy is not trusted: \(problem.message)"
    case .branch(let loss): loss.message
    case .transaction: "the record of an interrupted change cannot be read"
    case .unfinished: "a change was interrupted; the next command that writes finishes it"
    }
  }

  /// The kind as one word, for programs.
  package var word: String {
    switch self {
    case .shard: "index"
    case .stray: "stray"
    case .fileMissing, .itemMissing: "missing"
    case .notAdopted: "not-adopted"
    case .changed: "changed"
    case .notInIndex: "not-in-index"
    case .damaged: "damaged"
    case .bindingMismatch: "binding-mismatch"
    case .passRecipients: "pass-recipients"
    case .undecryptable: "undecryptable"
    case .wrongRecipients, .unknownGroup: "recipients"
    case .unsafe: "permissions"
    case .policy: "policy"
    case .key, .keyEnds: "key"
    case .keyFile: "key-file"
    case .chain: "chain"
    case .branch: "branch"
    case .transaction: "transaction"
    case .unfinished: "unfinished"
    }
  }

  /// True if `check --repair` can repair it.
  package var isForRepair: Bool {
    switch self {
    case .shard, .stray, .fileMissing, .itemMissing, .notInIndex, .passRecipients, .bindingMismatch,
      .transaction, .unfinished:
      true
    case .damaged(let damage): damage.isForRepair
    case .notAdopted, .changed, .undecryptable, .wrongRecipients, .unknownGroup, .unsafe, .policy, .key:
      false
    case .keyEnds, .keyFile, .chain, .branch: false
    }
  }

  private static func list(_ keys: [KeyID]) -> String { keys.map(\.text).joined(separator: " ") }
}

extension Timestamp {
  /// The date in UTC, such as `2026-11-22`.
  package var day: String { String(rfc3339.prefix(10)) }

  /// The time in UTC without the parts of a second, such as `2026-11-22T08:30:00Z`.
  package var second: String { rfc3339.prefix(19) + "Z" }

  /// The time in UTC without seconds, such as `2026-11-22 08:30`.
  package var minute: String { "\(day) \(rfc3339.dropFirst(11).prefix(5))" }

  /// Returns the date in UTC, with the time to the minute if another time is on the same day.
  func day(besides other: Timestamp) -> String {
    day == other.day ? minute : day
  }
}

extension StrayReason {
  /// The reason why something is not part of a store.
  package var message: String {
    switch self {
    case .link: "a symbolic link, which is never followed"
    case .special: "a pipe, a socket or a device"
    case .folder: "a folder where a file belongs"
    case .file: "a file where a folder belongs"
    case .hardLink: "a file that has other names (hard links)"
    case .name: "this name does not belong in a store"
    case .repository: "another repository (a git submodule)"
    case .store: "another store, but a repository can contain only one"
    case .own: "files below `.keytree` and `local` are local to each machine"
    case .executable: "an executable file"
    case .tooLarge: "it is larger than the limit for files of its kind"
    case .obstructed: "another file exists at its path"
    case .tooManyFiles: "a folder that expands to too many files"
    case .stranger: "no person in the policy has this key"
    case .notAllowed: "it is not part of a store, and the policy does not allow it"
    }
  }
}

extension Finding {
  /// The finding as one line for people.
  package var line: String {
    let place = commit.map { " in commit \(String($0.prefix(12)))" } ?? ""
    return "\(path)\(place): \(kind.message)"
  }

  /// The finding as JSON, for programs.
  package var json: JSONValue { .object(members) }

  /// The members of the JSON object.
  package var members: [JSONMember] {
    [
      JSONMember("path", .string(path)), JSONMember("problem", .string(kind.word)),
      JSONMember("text", .string(kind.message)), JSONMember("repairable", .bool(kind.isForRepair)),
    ] + (commit.map { [JSONMember("commit", .string($0))] } ?? [])
  }
}

extension Repair {
  /// The repair, as one line for people.
  package var line: String {
    switch self {
    case .rebuiltLine(let reference): "rebuilt the line of \(reference.spokenName)"
    case .restoredFile(let file): "restored \(file) from the history"
    case .restoredKeyFile(let file): "restored \(file), as the policy names it"
    case .movedItem(let from, let to): "moved \(from) back to \(to)"
    case .keptAsConflictCopy(let path):
      "kept \(path) as a conflict copy: the item also exists at another path"
    case .quarantined(let path, let to): "quarantined \(path) as \(to)"
    case .removedLine(let file, let number): "quarantined line \(number) of \(file)"
    case .rewroteShard(let file): "rewrote \(file)"
    case .rewrotePassRecipients: "rewrote \(StoreLayout.passRecipients)"
    }
  }

  /// The repair as JSON, for programs.
  package var json: JSONValue {
    let members: [(String, JSONValue)] =
      switch self {
      case .rebuiltLine(let reference):
        [("repair", .string("rebuilt-line")), ("reference", .string(reference.text))]
      case .restoredFile(let file), .restoredKeyFile(let file):
        [("repair", .string("restored")), ("path", .string(file))]
      case .movedItem(let from, let to):
        [("repair", .string("moved")), ("path", .string(from)), ("to", .string(to))]
      case .keptAsConflictCopy(let path):
        [("repair", .string("kept-as-conflict-copy")), ("path", .string(path))]
      case .quarantined(let path, let to):
        [("repair", .string("quarantined")), ("path", .string(path)), ("to", .string(to))]
      case .removedLine(let file, let number):
        [
          ("repair", .string("removed-line")), ("path", .string(file)), ("line", .integer(Int64(number))),
        ]
      case .rewrotePassRecipients:
        [("repair", .string("rewrote")), ("path", .string(StoreLayout.passRecipients))]
      case .rewroteShard(let file): [("repair", .string("rewrote")), ("path", .string(file))]
      }
    return .object(members.map { JSONMember($0.0, $0.1) })
  }
}
