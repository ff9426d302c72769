package import Keyring
import Foundation
import Glibc
import Synchronization

/// Records the operations of a change to a folder, and builds the states that a power cut may leave on the disk.
///
/// The model is weaker than Linux's usual file systems: a name is on disk after its folder was flushed, the content of a
/// file after the file was flushed, and everything else may be lost or kept in any order. Only the names that one
/// operation changes within one folder are kept or lost together, as in a journaled rename (rename(2), fsync(2)).
package final class PowerCut: Sendable {
  /// A state of the folder after a cut.
  package struct Disk: Sendable, CustomStringConvertible {
    /// The number of completed operations before the cut.
    package let operations: Int
    /// True if the change was complete, so that it must not be lost.
    package let isDone: Bool
    /// The files and folders by path. Two paths with one number are links to one file.
    fileprivate let nodes: [String: Node]
    /// The last operation before the cut.
    fileprivate let last: String

    /// The last operation, and all files with their sizes.
    package var description: String {
      let files = nodes.sorted { $0.key < $1.key }.compactMap { path, node in
        node.content.map { "\(path) \($0.count)" }
      }
      return "after operation \(operations), \(last)\(isDone ? ", the end" : ""): \(files)"
    }
  }

  fileprivate struct Node: Hashable {
    var number: Int
    /// The content; nil for a folder.
    var content: [UInt8]?
  }

  /// The same state after fewer operations is the same test.
  private struct Key: Hashable {
    let isDone: Bool
    let nodes: [String: Node]
  }

  /// Names in a folder that one operation has changed. A nil number removes the name.
  private struct Update {
    let folder: Int
    let names: [String: Int?]
  }

  /// The state of the folder, and what of it is on disk.
  private struct Recording {
    /// The numbers of files and folders by inode, as long as they have a name.
    var numbers: [UInt64: Int] = [:]
    var next = 1
    var paths: [String: Int] = [:]
    var contents: [Int: [UInt8]] = [:]
    var names: [Int: [String: Int]] = [:]
    /// The contents and names on disk.
    var flushedContents: [Int: [UInt8]] = [:]
    var flushedNames: [Int: [String: Int]] = [:]
    /// The changes of names that are not on disk, in their order.
    var updates: [Update] = []
    var pending: (FileOperation, String)?
    var count = 0
    var disks: [Disk] = []
    var known: Set<Key> = []
  }

  private static let root = 0
  private let folder: String
  private let samples: @Sendable (Int) -> Bool
  private let ignored: @Sendable (FileOperation, String) -> Bool
  private let state = Mutex(Recording())

  /// - Parameters:
  ///   - folder: The folder, whose content counts as flushed.
  ///   - samples: Returns true for the numbers of operations after which the power is cut. It is also cut at the end.
  ///   - ignored: Returns true for a flush that has no effect, so that a test can show what it would miss.
  package init(
    of folder: String, samples: @escaping @Sendable (Int) -> Bool = { _ in true },
    ignoring ignored: @escaping @Sendable (FileOperation, String) -> Bool = { _, _ in false }
  ) {
    (self.folder, self.samples, self.ignored) = (folder, samples, ignored)
    state.withLock { state in
      read(into: &state)
      flushAll(&state)
    }
  }

  /// The plan for the store. It injects nothing.
  package var plan: FaultPlan {
    { operation, path in
      self.state.withLock { state in
        self.complete(&state, isDone: false)
        state.pending = (operation, path)
      }
      return nil
    }
  }

  /// Ends the recording.
  ///
  /// - Parameter isDone: True if the change was reported as done.
  /// - Returns: The number of operations, and all states.
  package func finish(isDone: Bool = true) -> (operations: Int, disks: [Disk]) {
    state.withLock { state in
      complete(&state, isDone: isDone)
      return (state.count, state.disks)
    }
  }

  /// Replaces the folder with a state.
  package func restore(_ disk: Disk) throws {
    let files = FileManager.default
    try? files.removeItem(atPath: folder)
    try files.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    var first: [Int: String] = [:]
    for (path, node) in disk.nodes.sorted(by: { $0.key < $1.key }) {
      let place = "\(folder)/\(path)"
      guard let content = node.content else {
        try files.createDirectory(
          atPath: place, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        continue
      }
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

  // MARK: Recording

  /// Notes the effect of the operation that was announced last.
  private func complete(_ state: inout Recording, isDone: Bool) {
    let before = state.names
    read(into: &state)
    for number in Set(before.keys).union(state.names.keys) {
      let (old, new) = (before[number] ?? [:], state.names[number] ?? [:])
      var changed: [String: Int?] = [:]
      for name in Set(old.keys).union(new.keys) where old[name] != new[name] {
        changed.updateValue(new[name], forKey: name)
      }
      if !changed.isEmpty { state.updates.append(Update(folder: number, names: changed)) }
    }
    if let (operation, path) = state.pending {
      state.count += 1
      if !ignored(operation, path) { flush(operation, path, &state) }
    }
    if isDone || samples(state.count) { addDisks(&state, isDone: isDone) }
  }

  private func flush(_ operation: FileOperation, _ path: String, _ state: inout Recording) {
    switch operation {
    case .synchronizeAll: flushAll(&state)
    case .synchronize:
      if let number = state.paths[path] { state.flushedContents[number] = state.contents[number] }
    case .synchronizeDirectory:
      // A new lock file flushes its folder and the root.
      let number = path.isEmpty ? Self.root : state.paths[path]
      if let number, state.names[number] != nil {
        flushNames(of: number, &state)
      } else {
        let parent = path.split(separator: "/").dropLast().joined(separator: "/")
        flushNames(of: state.paths[parent] ?? Self.root, &state)
        flushNames(of: Self.root, &state)
      }
    case .makeDirectory, .createFile, .write, .rename, .remove, .removeDirectory, .link: break
    }
  }

  private func flushNames(of number: Int, _ state: inout Recording) {
    state.flushedNames[number] = state.names[number]
    state.updates.removeAll { $0.folder == number }
  }

  private func flushAll(_ state: inout Recording) {
    state.flushedContents.merge(state.contents) { $1 }
    state.flushedNames.merge(state.names) { $1 }
    state.updates = []
  }

  /// Reads the folder as it is now.
  private func read(into state: inout Recording) {
    var (paths, names, numbers) = ([String: Int](), [Self.root: [String: Int]()], [UInt64: Int]())
    for path in FileManager.default.enumerator(atPath: folder)?.compactMap({ $0 as? String }) ?? [] {
      var info = stat()
      guard unsafe lstat("\(folder)/\(path)", &info) == 0 else { continue }
      let number = numbers[UInt64(info.st_ino)] ?? state.numbers[UInt64(info.st_ino)] ?? state.next
      state.next = max(state.next, number + 1)
      (paths[path], numbers[UInt64(info.st_ino)]) = (number, number)
      if info.st_mode & S_IFMT == S_IFDIR {
        names[number] = names[number] ?? [:]
      } else {
        state.contents[number] = Array(FileManager.default.contents(atPath: "\(folder)/\(path)") ?? Data())
      }
    }
    for (path, number) in paths {
      let parts = path.split(separator: "/")
      let parent = parts.dropLast().joined(separator: "/")
      names[parent.isEmpty ? Self.root : paths[parent] ?? Self.root]?[String(parts[parts.count - 1])] = number
    }
    (state.paths, state.names, state.numbers) = (paths, names, numbers)
  }

  // MARK: States

  /// The loss of content that was not flushed.
  private enum Loss: CaseIterable { case nothing, half, everything }

  private func addDisks(_ state: inout Recording, isDone: Bool) {
    let all = Set(state.updates.indices)
    var choices: [Set<Int>] = [all, []]
    // Of many updates, a few are enough.
    for index in state.updates.indices where state.updates.count < 40 || index % 17 == 0 {
      choices += [all.subtracting([index]), [index], Set(0..<index)]
    }
    for choice in Set(choices) {
      for loss in Loss.allCases {
        var nodes: [String: Node] = [:]
        add(Self.root, "", choice, loss, state, to: &nodes)
        if state.known.insert(Key(isDone: isDone, nodes: nodes)).inserted {
          let last = state.pending.map { "\($0.0.rawValue) \($0.1)" } ?? "nothing"
          state.disks.append(Disk(operations: state.count, isDone: isDone, nodes: nodes, last: last))
        }
      }
    }
  }

  private func add(
    _ number: Int, _ prefix: String, _ choice: Set<Int>, _ loss: Loss, _ state: Recording,
    to nodes: inout [String: Node]
  ) {
    var names = state.flushedNames[number] ?? [:]
    for index in choice.sorted() where state.updates[index].folder == number {
      for (name, target) in state.updates[index].names { names[name] = target }
    }
    for (name, target) in names.sorted(by: { $0.key < $1.key }) {
      let path = prefix + name
      // A number without content is a folder.
      guard let content = state.contents[target] else {
        // A folder that has two names because only one side of its move is on disk has its content once.
        if nodes.values.contains(where: { $0.number == target }) { continue }
        nodes[path] = Node(number: target, content: nil)
        add(target, path + "/", choice, loss, state, to: &nodes)
        continue
      }
      let flushed = state.flushedContents[target]
      let bytes: [UInt8] =
        switch loss {
        case .nothing: content
        case .half:
          flushed == content ? content : Array(content.prefix(max(flushed?.count ?? 0, content.count / 2)))
        case .everything: flushed ?? []
        }
      nodes[path] = Node(number: target, content: bytes)
    }
  }
}
