import Foundation
import Keyring
import KeyringModel
import OpenPGP
import Sync
import TestSupport

extension SyncWorld {
  /// Returns the rotation list of the store or of a clone.
  func rotationList(at path: String? = nil, withGit: Bool = true) throws -> RotationList {
    try rotation(at: path, withGit: withGit).list
  }

  /// Returns the list and the readers that it was made from.
  func rotation(
    at path: String? = nil, withGit: Bool = true
  ) throws -> (list: RotationList, readers: AccessHistory) {
    let path = path ?? self.path
    let keyring = try open(at: path)
    let repository = withGit ? try Repository.find(store: path, git: makeGit) : nil
    let past = try HistoricalReaders(of: keyring, in: repository)
    return (try keyring.rotationList(of: past.items, past.readers), past.readers)
  }

  /// Changes the policy and commits it.
  func changePolicy(at path: String? = nil, _ body: () throws -> Void) throws {
    try body()
    try git(["add", "-A", "policy.json", "policy.json.asc", "keys"], in: path)
    try git(["commit", "-q", "-m", "change the policy"], in: path)
  }
}

extension SyncClones {
  /// Changes the policy after all clones were synchronized. All clones share the accepted policy of the machine, so a
  /// clone that is behind could not be opened.
  func changePolicy(_ body: () throws -> Void) throws {
    for clone in paths.indices + paths.indices.dropLast() { try sync(clone) }
    try world.changePolicy(body)
    _ = try git(0, "push", "-q", "origin", "main")
    for clone in paths.indices.dropFirst() { _ = try git(clone, "pull", "-q", "--ff-only", "origin", "main") }
  }
}

/// The expected rotation list, computed by another method: commit by commit, from the records and the stand-in messages
/// beside them. It uses no digest and no code of the program.
struct PlainRotation {
  /// Open or deleted entries: the people who could read a revision and may not read it now.
  typealias Strangers = [String: Set<String>]

  /// The people who could ever read a container.
  private var readers: [Data: Set<String>] = [:]
  /// The containers of a revision.
  private var containers: [String: Set<Data>] = [:]
  /// The current items: revision and group by id.
  private(set) var items: [String: (revision: String, group: String)] = [:]
  private(set) var members: [String: Set<String>] = [:]
  private(set) var lastOfGone: [String: (revision: String, group: String, modified: String)] = [:]

  init(_ world: SyncWorld, at path: String? = nil) throws {
    let path = path ?? world.path
    for commit in try world.lines("rev-list", "--all", "--reflog", in: path) {
      let files = try world.lines(
        "ls-tree", "-r", "--name-only", commit, "--", "items", "conflicts", in: path)
      for file in files where file.hasSuffix(".json") || file.hasSuffix(".gpg") {
        let bytes = try Self.run(["show", "\(commit):\(file)"], in: path)
        if file.hasSuffix(".gpg") {
          note(bytes)
          continue
        }
        let line = try Self.record(bytes)
        let message = "\(file.dropLast(5)).gpg"
        if files.contains(message) {
          join(line, try Self.run(["show", "\(commit):\(message)"], in: path))
        }
        guard file.hasPrefix("items/") else { continue }
        let id = line["id"] as? String ?? ""
        let modified = line["modified"] as? String ?? ""
        if let old = lastOfGone[id], old.modified >= modified { continue }
        lastOfGone[id] = (line["revision"] as? String ?? "", line["group"] as? String ?? "", modified)
      }
    }
    let folder = URL(fileURLWithPath: path)
    for name in try FileManager.default.subpathsOfDirectory(atPath: path)
    where name.hasPrefix("items/") && name.hasSuffix(".json") {
      let line = try Self.record(try Data(contentsOf: folder.appendingPathComponent(name)))
      let message = try Data(contentsOf: folder.appendingPathComponent("\(name.dropLast(5)).gpg"))
      note(message)
      join(line, message)
      items[line["id"] as? String ?? ""] = (line["revision"] as? String ?? "", line["group"] as? String ?? "")
    }
    for id in items.keys { lastOfGone[id] = nil }
    let policy = try Data(contentsOf: folder.appendingPathComponent("policy.json"))
    let groups = try Self.record(policy)["groups"] as? [String: [String]] ?? [:]
    members = groups.mapValues { Set($0) }
  }

  /// The people who could read the current secret of an item and are not in its group, by item id. Items without such
  /// people are omitted.
  var open: Strangers { items.mapValues { strangers($0.revision, $0.group) }.filter { !$0.value.isEmpty } }

  /// The same for deleted items: a revision and names, each pair once.
  var deleted: Set<[String]> {
    let current = Set(items.values.map(\.revision))
    let gone = lastOfGone.values.filter { !current.contains($0.revision) }
    return Set(
      gone.compactMap { last in
        let found = strangers(last.revision, last.group)
        return found.isEmpty ? nil : [last.revision] + found.sorted()
      })
  }

  private func strangers(_ revision: String, _ group: String) -> Set<String> {
    (containers[revision] ?? []).reduce(into: Set()) { $0.formUnion(readers[$1] ?? []) }
      .subtracting(members[group] ?? [])
  }

  /// Splits a message of the stand-in into its readers and its container, after the magic line.
  private static func parts(_ message: Data) -> (names: Set<String>, container: Data)? {
    let parts = message.split(separator: 10, maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].elementsEqual("stand-in message".utf8) else { return nil }
    return (
      Set(String(decoding: parts[1], as: UTF8.self).split(separator: ",").map(String.init)), Data(parts[2])
    )
  }

  private mutating func note(_ message: Data) {
    if let (names, container) = Self.parts(message) { readers[container, default: []].formUnion(names) }
  }

  private mutating func join(_ line: [String: Any], _ message: Data) {
    guard let container = Self.parts(message)?.container, let revision = line["revision"] as? String else {
      return
    }
    containers[revision, default: []].insert(container)
  }

  /// Returns the first line of a record.
  private static func record(_ bytes: Data) throws -> [String: Any] {
    try JSONSerialization.jsonObject(with: Data(bytes.prefix { $0 != 10 })) as? [String: Any] ?? [:]
  }

  private static func run(_ words: [String], in folder: String) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/git")
    process.arguments = words
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return output
  }
}

extension RotationList {
  /// Fingerprints by item id, of entries that are not deleted.
  var openReaders: PlainRotation.Strangers {
    Dictionary(uniqueKeysWithValues: entries.filter { !$0.isDeleted }.map { ($0.record.id.hex, $0.names) })
  }

  /// The revision and the fingerprints of each deleted entry.
  var deletedReaders: Set<[String]> {
    Set(entries.filter(\.isDeleted).map { [$0.record.revision.hex] + $0.names.sorted() })
  }
}

extension RotationList.Entry {
  var names: Set<String> { Set(readers.compactMap { $0.person?.text }) }
}
