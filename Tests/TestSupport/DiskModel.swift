import Foundation
import Glibc

/// A state of a folder that a power cut may leave.
package struct DiskState: Sendable, CustomStringConvertible {
  /// The number of completed operations before the cut.
  package let operations: Int
  /// True if the change was complete, so that it must not be lost.
  package let isDone: Bool
  /// The files and folders by path.
  fileprivate let nodes: [String: DiskModel.Node]
  /// The last operation before the cut.
  fileprivate let last: String

  /// True if a lock file of git is on the disk.
  package var hasGitLock: Bool { nodes.keys.contains { $0.hasPrefix(".git/") && $0.hasSuffix(".lock") } }

  /// The last operation, and all files outside of git's folder with their sizes.
  package var description: String {
    let files = nodes.sorted { $0.key < $1.key }.compactMap { path, node in
      path.hasPrefix(".git/") ? nil : node.content.map { "\(path) \($0.count)" }
    }
    return "after operation \(operations), \(last)\(isDone ? ", the end" : ""): \(files)"
  }

  /// Replaces a folder with this state. The order of the times of change is that of the changes.
  package func restore(at folder: String) throws {
    let files = FileManager.default
    if files.fileExists(atPath: folder) { try files.removeItem(atPath: folder) }
    try files.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    var first: [Int: String] = [:]
    for (path, node) in nodes.sorted(by: { $0.key < $1.key }) where node.content == nil {
      try files.createDirectory(
        atPath: "\(folder)/\(path)", withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
    }
    let order = nodes.sorted { ($0.value.change, $0.key) < ($1.value.change, $1.key) }
    for (path, node) in order {
      guard let content = node.content else { continue }
      let place = "\(folder)/\(path)"
      if let other = first[node.number] {
        try files.linkItem(atPath: other, toPath: place)
        continue
      }
      first[node.number] = place
      guard
        files.createFile(atPath: place, contents: Data(content), attributes: [.posixPermissions: 0o600])
      else { throw CocoaError(.fileWriteUnknown) }
    }
  }
}

/// The files and folders below a folder as programs see them, and what of them is on disk.
///
/// The content of a file is on disk after the file was flushed, a name after its folder was flushed (fsync(2)). The
/// names that one operation changes within one folder are kept or lost together (rename(2)).
struct DiskModel {
  /// The order in which names that are not flushed reach the disk.
  enum Order {
    /// Any order. Linux's usual file systems guarantee more.
    case any
    /// The order of the operations, as on a journaling file system, on which git relies for its own files. Only a flushed
    /// folder overtakes the earlier changes of other folders.
    case journaled
  }

  /// The loss of content that was not flushed.
  private enum Loss: CaseIterable { case nothing, half, everything }

  fileprivate struct Node {
    /// The number. Two paths with one number are links to one file.
    let number: Int
    /// The content; nil for a folder.
    let content: [UInt8]?
    /// The place of the last change of the content in the order of all changes.
    let change: Int
  }

  /// Names in a folder that one operation has changed, or a file that it has truncated. A nil number removes the name.
  private struct Update {
    /// The folder or the file.
    let number: Int
    var names: [String: Int?] = [:]
    /// The new size of a file that was made shorter.
    var size: Int?
  }

  /// A state that is being built.
  private struct Disk {
    /// The updates that are on disk, by the number of their folder or file, in their order.
    let updates: [Int: [Update]]
    /// The folders and files of which an update is not on disk.
    let lost: Set<Int>
    let loss: Loss
    var nodes: [String: Node] = [:]
    /// The folders that have their content.
    var folders: Set<Int> = []
  }

  /// The same state after fewer operations is the same test.
  private struct Key: Hashable {
    let isDone: Bool
    let contents: [String: [UInt8]?]
    let links: [String: Int]

    init(_ nodes: [String: Node], isDone: Bool) {
      self.isDone = isDone
      contents = nodes.mapValues(\.content)
      links = nodes.mapValues(\.number)
    }
  }

  /// The number of the folder itself.
  static let root = 0

  /// The numbers of all files and folders by path.
  private(set) var paths: [String: Int] = [:]
  /// The contents of files. A number without content is a folder.
  private(set) var contents: [Int: [UInt8]] = [:]
  /// The places of the last changes of contents in the order of all changes.
  private var changes: [Int: Int] = [:]
  private var lastChange = 0
  /// The states that a power cut may have left so far, each one once.
  private(set) var states: [DiskState] = []
  private let order: Order
  private var names: [Int: [String: Int]] = [Self.root: [:]]
  private var flushedContents: [Int: [UInt8]] = [:]
  private var flushedChanges: [Int: Int] = [:]
  private var flushedNames: [Int: [String: Int]] = [Self.root: [:]]
  /// The changes of names that are not on disk, in their order.
  private var updates: [Update] = []
  private var known: Set<Key> = []

  init(order: Order) { self.order = order }

  // MARK: Operations

  /// Notes which files and folders there are now, with the contents of those that may have changed.
  mutating func set(_ paths: [String: Int], contents: [Int: [UInt8]] = [:]) {
    let before = names
    self.paths = paths
    for (number, content) in contents where self.contents[number] != content {
      setContent(content, of: number)
    }
    names = [Self.root: [:]]
    for number in paths.values where self.contents[number] == nil { names[number] = [:] }
    for (path, number) in paths {
      let parts = path.split(separator: "/")
      let parent = parts.dropLast().joined(separator: "/")
      names[parent.isEmpty ? Self.root : paths[parent] ?? Self.root]?[String(parts[parts.count - 1])] = number
    }
    for number in Set(before.keys).union(names.keys).sorted() {
      let (old, new) = (before[number] ?? [:], names[number] ?? [:])
      var changed: [String: Int?] = [:]
      for name in Set(old.keys).union(new.keys) where old[name] != new[name] {
        changed.updateValue(new[name], forKey: name)
      }
      if !changed.isEmpty { updates.append(Update(number: number, names: changed)) }
    }
  }

  /// Replaces the content of a file.
  mutating func setContent(_ content: [UInt8], of number: Int) {
    // A journal contains the size of a file like names, and in one order with them.
    if order == .journaled, content.count < contents[number]?.count ?? 0 {
      updates.append(Update(number: number, size: content.count))
    }
    contents[number] = content
    lastChange += 1
    changes[number] = lastChange
  }

  /// Flushes a file, or the names in a folder.
  mutating func flush(_ number: Int) {
    if let names = names[number] {
      flushedNames[number] = names
    } else {
      flushedContents[number] = contents[number]
      flushedChanges[number] = changes[number]
    }
    updates.removeAll { $0.number == number }
  }

  /// Flushes all files and folders.
  mutating func flushAll() {
    flushedContents.merge(contents) { $1 }
    flushedChanges.merge(changes) { $1 }
    flushedNames.merge(names) { $1 }
    updates = []
  }

  // MARK: States

  /// Adds the states that a power cut at this time may leave.
  ///
  /// - Parameters:
  ///   - operations: The number of completed operations.
  ///   - last: The last one.
  ///   - isDone: True if the change was reported as done.
  mutating func addStates(after operations: Int, _ last: String, isDone: Bool) {
    let all = Dictionary(grouping: updates, by: \.number)
    for choice in choices {
      let kept = Dictionary(grouping: choice.sorted().map { updates[$0] }, by: \.number)
      let lost = Set(all.keys.filter { kept[$0]?.count != all[$0]?.count })
      for loss in Loss.allCases {
        var disk = Disk(updates: kept, lost: lost, loss: loss)
        add(Self.root, "", to: &disk)
        if known.insert(Key(disk.nodes, isDone: isDone)).inserted {
          states.append(DiskState(operations: operations, isDone: isDone, nodes: disk.nodes, last: last))
        }
      }
    }
  }

  /// The sets of updates that may be on disk.
  private var choices: [Set<Int>] {
    let all = Set(updates.indices)
    // Of many updates, a few are enough.
    let sample = updates.indices.filter { updates.count < 40 || $0 % 17 == 0 }
    // Equal choices give states that are known.
    switch order {
    case .any: return [all, []] + sample.flatMap { [all.subtracting([$0]), [$0], Set(0..<$0)] }
    case .journaled: return [all, []] + sample.map { Set(0..<$0) }
    }
  }

  /// Adds what is on disk in a folder.
  private func add(_ number: Int, _ prefix: String, to disk: inout Disk) {
    var names = flushedNames[number] ?? [:]
    for update in disk.updates[number] ?? [] {
      for (name, target) in update.names { names[name] = target }
    }
    for (name, target) in names.sorted(by: { $0.key < $1.key }) {
      let path = prefix + name
      guard let content = contents[target] else {
        // A folder that has two names because only one side of its move is on disk has its content once.
        guard disk.folders.insert(target).inserted else { continue }
        disk.nodes[path] = Node(number: target, content: nil, change: 0)
        add(target, path + "/", to: &disk)
        continue
      }
      let bytes = self.content(content, of: target, disk)
      let change = (bytes == flushedContents[target] ? flushedChanges : changes)[target] ?? 0
      disk.nodes[path] = Node(number: target, content: bytes, change: change)
    }
  }

  /// Returns the content of a file that is on disk.
  private func content(_ content: [UInt8], of number: Int, _ disk: Disk) -> [UInt8] {
    let flushed = flushedContents[number] ?? []
    // All updates of a file are truncations.
    if disk.lost.contains(number) { return flushed }
    switch disk.loss {
    case .nothing: return content
    case .half:
      // An append is cut off, and the second half of an overwritten file is the old one.
      let kept = content.starts(with: flushed) ? (flushed.count + content.count) / 2 : content.count / 2
      return Array(content.prefix(kept) + flushed.dropFirst(kept))
    case .everything:
      return Array(flushed.prefix((disk.updates[number] ?? []).compactMap(\.size).min() ?? .max))
    }
  }
}

/// The files below a folder, with numbers for their inodes.
struct FolderReading {
  private(set) var paths: [String: Int] = [:]
  private(set) var contents: [Int: [UInt8]] = [:]
  /// The numbers of files and folders by inode.
  private var numbers: [UInt64: Int] = [:]
  private var next = DiskModel.root + 1

  /// Reads the folder as it is now. A file or folder keeps its number as long as it has a name.
  mutating func read(_ folder: String) {
    let known = numbers
    (paths, contents, numbers) = ([:], [:], [:])
    for path in FileManager.default.enumerator(atPath: folder)?.compactMap({ $0 as? String }) ?? [] {
      var info = stat()
      guard unsafe lstat("\(folder)/\(path)", &info) == 0 else { continue }
      let number = numbers[UInt64(info.st_ino)] ?? known[UInt64(info.st_ino)] ?? next
      next = max(next, number + 1)
      (paths[path], numbers[UInt64(info.st_ino)]) = (number, number)
      if info.st_mode & S_IFMT != S_IFDIR {
        contents[number] = Array(FileManager.default.contents(atPath: "\(folder)/\(path)") ?? Data())
      }
    }
  }
}
