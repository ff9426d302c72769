internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Sync

/// The rotation list of a store, and what else was found on the way.
struct Rotations {
  let list: RotationList
  let readers: SecretReaders

  /// Looks through the store and its history.
  ///
  /// - Throws: `keyring`, `git`, `sync`.
  init(_ call: CommandCall, _ keyring: Keyring) throws(Failure) {
    let items = try keyringCall(keyring.allItems())
    call.tell(items.problems)
    let repository = try call.repository()
    let past = try syncCall { () throws(SyncError) in
      try PastReaders(of: keyring, items: items.items, in: repository)
    }
    readers = past.readers
    list = try keyringCall(keyring.rotationList(of: items.items, past.readers))
  }

  /// Why there may be more than is listed, always in the same order.
  var sortedGaps: [SecretReaders.Gap] { list.gaps.sorted { $0.place < $1.place } }

  /// Says why there may be more than is listed, and what cannot be told.
  func tellGaps(_ console: Console) {
    for gap in sortedGaps {
      console.complain("keytree: warning: the list may not be complete: \(gap.words)")
      console.complain("hint: \(gap.hint)")
    }
    // Those that only today's members could read hide nothing.
    if readers.strays > 0, !list.gaps.contains(.strays(readers.strays)) {
      console.say("\(SecretReaders.Gap.strays(readers.strays).words).")
    }
  }
}

extension SecretReaders.Gap {
  fileprivate var place: Int {
    switch self {
    case .noHistory: 0
    case .cutOff: 1
    case .missing: 2
    case .unreadable: 3
    case .strays: 4
    case .tooLarge: 5
    case .badLines: 6
    }
  }

  fileprivate var words: String {
    switch self {
    case .noHistory: "the store has no history, so who could read a secret before is not known"
    case .cutOff: "this clone has only the later part of the history"
    case .missing(let count): "\(count) contents of the history are missing in this clone"
    case .unreadable(let count):
      count == 1
        ? "the message of an item is missing or damaged"
        : "the messages of \(count) items are missing or damaged"
    case .strays(let count):
      (count == 1 ? "1 message of the history is" : "\(count) messages of the history are")
        + " of no item that any line tells of, as plain git may leave it"
    case .tooLarge(let count):
      count == 1
        ? "1 file of the history is too large to be read"
        : "\(count) files of the history are too large to be read"
    case .badLines(let count):
      count == 1 ? "1 line of the history cannot be read" : "\(count) lines of the history cannot be read"
    }
  }

  fileprivate var hint: String {
    switch self {
    case .noHistory: "`keytree git init` begins one"
    case .cutOff: "`keytree git fetch --unshallow` gets the rest"
    case .missing: "`keytree clone` makes a clone that has everything"
    case .unreadable: "`keytree check` names what is damaged"
    case .strays: "others than today's members could read some of that: change what they may have known"
    case .tooLarge, .badLines: "`keytree git log --stat -- items index` shows who has put it there"
    }
  }

  /// For programs.
  private var name: String {
    switch self {
    case .noHistory: "noHistory"
    case .cutOff: "shallow"
    case .missing: "missing"
    case .unreadable: "unreadable"
    case .strays: "strays"
    case .tooLarge: "tooLarge"
    case .badLines: "badLines"
    }
  }

  /// How many there are, where they can be counted.
  private var count: Int? {
    switch self {
    case .noHistory, .cutOff: nil
    case .missing(let count), .unreadable(let count), .strays(let count), .tooLarge(let count),
      .badLines(let count):
      count
    }
  }

  /// A line for programs.
  var members: [JSONMember] {
    (count.map { [JSONMember("count", .integer(Int64($0)))] } ?? []) + [JSONMember("gap", .string(name))]
  }
}

extension RotationList.Reader {
  /// Who it is and why it should not know the secret, for people; not escaped.
  func words(_ policy: Policy, group: String) -> String {
    guard let person else {
      let key = keys.map(\.text).sorted().joined(separator: ", ")
      return keys == [.hidden] ? "somebody who is not named" : "key \(key), of nobody known"
    }
    let name = policy.people[person]?.name ?? person.text
    switch reason {
    case .left(let time): return "\(name), who left on \(time.rfc3339.prefix(10))"
    case .notInGroup: return "\(name), who is not in group \(group)"
    case .unknownKey: return name
    }
  }

  /// For programs.
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
    case .unknownKey: members.append(JSONMember("reason", .string("unknownKey")))
    }
    return .object(members)
  }
}
