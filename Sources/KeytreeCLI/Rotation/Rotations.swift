internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Sync
internal import Terminal

/// The rotation list of a store, and the reasons why it may be incomplete.
struct Rotations {
  let list: RotationList
  /// The number of encrypted files in the history that belong to no record.
  let strays: Int

  /// Creates the list from the store and its history.
  ///
  /// - Throws: `KeyringError`, `GitError`, `SyncError`.
  init(_ call: CommandCall, _ keyring: Keyring) throws {
    let repository = try call.repository()
    let past = try HistoricalReaders(of: keyring, in: repository)
    strays = past.readers.strays.count
    list = try keyring.rotationList(of: past.items, past.readers)
  }

  /// The reasons why the list may be incomplete, always in the same order.
  var sortedGaps: [AccessHistory.Gap] { list.gaps.sorted { $0.place < $1.place } }

  /// Prints a warning for each reason why the list may be incomplete.
  func reportGaps(_ console: Console) {
    for gap in sortedGaps {
      console.complain("keytree: warning: the list may be incomplete: \(gap.message)")
      console.complain("hint: \(gap.hint)")
    }
    // Files that only the current members could read cannot hide an entry.
    if strays > 0, !list.gaps.contains(.strays(strays)) {
      console.say("\(AccessHistory.Gap.strays(strays).message).")
    }
  }
}

extension AccessHistory.Gap {
  fileprivate var place: Int {
    switch self {
    case .noHistory: 0
    case .cutOff: 1
    case .missing: 2
    case .unreadable: 3
    case .unverified: 4
    case .strays: 5
    case .tooLarge: 6
    case .badRecords: 7
    }
  }

  fileprivate var message: String {
    switch self {
    case .noHistory: "the store has no history, so the former readers of its secrets are not known"
    case .cutOff: "this clone has only the later part of the history"
    case .missing(let count): "\(count) objects of the history are missing in this clone"
    case .unreadable(let count):
      count == 1
        ? "the encrypted file of an item is missing or damaged"
        : "the encrypted files of \(count) items are missing or damaged"
    case .unverified(let count):
      count == 1
        ? "the record of an item is missing or not signed by a member of its group"
        : "the records of \(count) items are missing or not signed by members of their groups"
    case .strays(let count):
      count == 1
        ? "1 encrypted file of the history belongs to no record"
        : "\(count) encrypted files of the history belong to no record"
    case .tooLarge(let count):
      count == 1
        ? "1 file of the history is too large to be read"
        : "\(count) files of the history are too large to be read"
    case .badRecords(let count):
      count == 1 ? "1 record of the history cannot be read" : "\(count) records of the history cannot be read"
    }
  }

  fileprivate var hint: String {
    switch self {
    case .noHistory: "create one with `keytree git init`"
    case .cutOff: "get the rest with `keytree git fetch --unshallow`"
    case .missing: "make a complete clone with `keytree clone`"
    case .unreadable, .unverified: "list what is damaged with `keytree check`"
    case .strays:
      "former readers could read some of them: change the secrets that they may know"
    case .tooLarge, .badRecords: "`keytree git log --stat -- items conflicts` shows who added it"
    }
  }

  /// The kind of the gap in the JSON output.
  private var name: String {
    switch self {
    case .noHistory: "noHistory"
    case .cutOff: "shallow"
    case .missing: "missing"
    case .unreadable: "unreadable"
    case .unverified: "unverified"
    case .strays: "strays"
    case .tooLarge: "tooLarge"
    case .badRecords: "badRecords"
    }
  }

  /// The number of affected files, objects or records, if there is one.
  private var count: Int? {
    switch self {
    case .noHistory, .cutOff: nil
    case .missing(let count), .unreadable(let count), .unverified(let count), .strays(let count),
      .tooLarge(let count), .badRecords(let count):
      count
    }
  }

  /// The members of a line of JSON.
  var members: [JSONMember] {
    (count.map { [JSONMember("count", .integer(Int64($0)))] } ?? []) + [JSONMember("gap", .string(name))]
  }
}

extension RotationList.Reader {
  /// Returns the reader, and the reason why they must not know the secret, as text; not escaped.
  func words(_ policy: Policy, group: String) -> String {
    guard let person else {
      let key = keys.map(\.text).sorted().joined(separator: ", ")
      return keys == [.hidden] ? "a hidden recipient" : "key \(key), which no member has"
    }
    let name = policy.name(of: person)
    switch reason {
    case .left(let time): return "\(name), who left on \(time.day)"
    case .notInGroup: return "\(name), who is not in group \(group)"
    case .compromised: return "\(name), who has revoked a subkey that it was encrypted to"
    case .unknownKey: return name
    }
  }

  /// Returns the facts as JSON.
  func json(_ policy: Policy) -> JSONValue {
    var members = [JSONMember("keys", .array(keys.sorted().map { .string($0.text) }))]
    if let person {
      members.append(JSONMember("fingerprint", .string(person.text)))
      if let name = policy.people[person]?.name { members.append(JSONMember("name", .string(name))) }
    }
    switch reason {
    case .left(let time):
      members.append(JSONMember("left", .string(time.rfc3339)))
      members.append(JSONMember("reason", .string("left")))
    case .notInGroup: members.append(JSONMember("reason", .string("notInGroup")))
    case .compromised: members.append(JSONMember("reason", .string("compromised")))
    case .unknownKey: members.append(JSONMember("reason", .string("unknownKey")))
    }
    return .object(members)
  }
}
