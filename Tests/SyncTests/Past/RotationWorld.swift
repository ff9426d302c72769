import Foundation
import Keyring
import KeyringModel
import OpenPGP
import Sync
import TestSupport

extension SyncWorld {
  /// The rotation list of the store or of a clone.
  func rotationList(at path: String? = nil, withGit: Bool = true) throws -> RotationList {
    try rotation(at: path, withGit: withGit).list
  }

  /// The list, and what it was made of.
  func rotation(
    at path: String? = nil, withGit: Bool = true
  ) throws -> (list: RotationList, readers: SecretReaders) {
    let path = path ?? self.path
    let keyring = try open(at: path)
    let items = try keyring.allItems().items
    let repository = withGit ? try Repository.find(store: path, git: makeGit) : nil
    let readers = try PastReaders(of: keyring, items: items, in: repository).readers
    return (try keyring.rotationList(of: items, readers), readers)
  }

  /// Changes the policy and commits it.
  func changePolicy(at path: String? = nil, _ body: () throws -> Void) throws {
    try body()
    try git(["add", "-A", "policy.json", "policy.json.asc", "keys"], in: path)
    try git(["commit", "-q", "-m", "change the policy"], in: path)
  }
}

extension SyncClones {
  /// Changes the policy where everything has come together: all clones share what the machine has accepted, and those
  /// that were behind could not be opened.
  func changePolicy(_ body: () throws -> Void) throws {
    for clone in paths.indices + paths.indices.dropLast() { try sync(clone) }
    try world.changePolicy(body)
    _ = try git(0, "push", "-q", "origin", "main")
    for clone in paths.indices.dropFirst() { _ = try git(clone, "pull", "-q", "--ff-only", "origin", "main") }
  }
}

/// What a rotation list has to say, found out in another way: commit by commit, from the messages of the stand-in
/// themselves, which anybody can read. No digest, no line of the past and no code of the program is used.
struct PlainRotation {
  /// An open or deleted entry: who could read a revision and may not today.
  typealias Strangers = [String: Set<String>]

  /// The current revisions of all items, by what could ever be read by whom.
  private(set) var readers: [String: Set<String>] = [:]
  /// The items of today: revision and group by id.
  private(set) var items: [String: (revision: String, group: String)] = [:]
  private(set) var members: [String: Set<String>] = [:]
  private(set) var lastOfGone: [String: (revision: String, group: String, modified: String)] = [:]

  init(_ world: SyncWorld, at path: String? = nil) throws {
    let path = path ?? world.path
    for commit in try world.lines("rev-list", "--all", "--reflog", in: path) {
      let files = try world.lines("ls-tree", "-r", "--name-only", commit, "--", "items", "index", in: path)
      for file in files {
        let text = try Self.run(["show", "\(commit):\(file)"], in: path)
        if file.hasPrefix("items/") {
          note(text)
        } else {
          for line in try Self.objects(text) {
            let id = line["id"] as? String ?? ""
            let modified = line["modified"] as? String ?? ""
            if let old = lastOfGone[id], old.modified >= modified { continue }
            lastOfGone[id] = (line["revision"] as? String ?? "", line["group"] as? String ?? "", modified)
          }
        }
      }
    }
    let folder = URL(fileURLWithPath: path)
    for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
      let isItem = name.hasPrefix("items/") && name.hasSuffix(".gpg")
      let isShard = name.hasPrefix("index/") && name.hasSuffix(".jsonl")
      guard isItem || isShard else { continue }
      let bytes = try Data(contentsOf: folder.appendingPathComponent(name))
      if isItem {
        note(bytes)
        continue
      }
      for line in try Self.objects(bytes) {
        items[line["id"] as? String ?? ""] = (
          line["revision"] as? String ?? "", line["group"] as? String ?? ""
        )
      }
    }
    for id in items.keys { lastOfGone[id] = nil }
    let policy = try Data(contentsOf: folder.appendingPathComponent("policy.json"))
    let groups = try Self.objects(policy).first?["groups"] as? [String: [String]] ?? [:]
    members = groups.mapValues { Set($0) }
  }

  /// Who could read the current secret of each item and is not in its group, by id; nobody's are left out.
  var open: Strangers { items.mapValues { strangers($0.revision, $0.group) }.filter { !$0.value.isEmpty } }

  /// The same of items that are gone: a revision and names, each pair once.
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
    (readers[revision] ?? []).subtracting(members[group] ?? [])
  }

  /// Takes a message of the stand-in apart: a magic line, the readers, the signer, and the flipped plaintext.
  private mutating func note(_ message: Data) {
    let parts = message.split(separator: 10, maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0].elementsEqual("stand-in message".utf8) else { return }
    let names = String(decoding: parts[1], as: UTF8.self).split(separator: ",").map(String.init)
    let header = Data(parts[3].map { ~$0 }.prefix { $0 != 10 })
    let object = try? JSONSerialization.jsonObject(with: header) as? [String: Any]
    guard let revision = object?["revision"] as? String else { return }
    readers[revision, default: []].formUnion(names)
  }

  private static func objects(_ lines: Data) throws -> [[String: Any]] {
    try lines.split(separator: 10).map { line in
      try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any] ?? [:]
    }
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
  /// Fingerprints by the ids of the items, of entries that are not deleted.
  var openReaders: PlainRotation.Strangers {
    Dictionary(uniqueKeysWithValues: entries.filter { !$0.isDeleted }.map { ($0.record.id.hex, $0.names) })
  }

  /// A revision and fingerprints, of deleted entries.
  var deletedReaders: Set<[String]> {
    Set(entries.filter(\.isDeleted).map { [$0.record.revision.hex] + $0.names.sorted() })
  }
}

extension RotationList.Entry {
  var names: Set<String> { Set(readers.compactMap { $0.person?.text }) }
}
