internal import Encoding
internal import Keyring
internal import KeyringModel

/// The files that differ between two commits.
struct TreeDifference {
  /// A file that differs.
  struct Entry: Equatable {
    /// The git mode of the old file; `000000` if there is none.
    let oldMode: String
    /// The git mode of the new file.
    let mode: String
    /// The object name of the old content.
    let oldName: String
    /// The object name of the new content; nil if the file was removed.
    let name: String?
  }

  /// The mode of an entry without a file.
  static let noMode = "000000"

  /// The entries by path, relative to the top of the tree.
  private(set) var entries: [String: Entry] = [:]
  /// The paths of new or changed files that are not UTF-8, or are not unambiguous as strings.
  private(set) var unreadable: [ArraySlice<UInt8>] = []
  /// The new or changed folders that name too many files, so that these are not listed; relative to the top of the
  /// tree. Invalid UTF-8 is replaced.
  private(set) var folders: [String] = []
  /// The name of the new commit.
  private let commit: String

  /// Compares the commits with git.
  ///
  /// - Parameters:
  ///   - old: A commit or a tree.
  ///   - new: A commit.
  ///   - git: Git in the repository.
  /// - Throws: The errors of `Git.run`.
  init(from old: String, to new: String, in git: Git) throws {
    commit = new
    let fields: [ArraySlice<UInt8>]
    do {
      fields = try git.records(
        ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index", "--no-textconv", old, new, "--"],
        memoryLimit: Git.shortListMemoryLimit)
    } catch let error as GitError where error.isAboutLength {
      try walk(from: old, to: new, in: git)
      return
    }
    var index = fields.startIndex
    while index + 1 < fields.endIndex {
      // `:<old mode> <mode> <old name> <name> <status>`, followed by the path.
      let words = String(decoding: fields[index].dropFirst(), as: UTF8.self).split(separator: " ")
      guard fields[index].first == UInt8(ascii: ":"), words.count == 5 else {
        throw GitError.unexpectedOutput(command: "diff-tree")
      }
      let isGone = words[3].allSatisfy { $0 == "0" }
      add(
        Entry(
          oldMode: String(words[0]), mode: String(words[1]), oldName: String(words[2]),
          name: isGone ? nil : String(words[3])), at: fields[index + 1])
      index += 2
    }
  }

  /// Compares trees that may name millions of files.
  init(walkingFrom old: String, to new: String, in git: Git) throws {
    commit = new
    try walk(from: old, to: new, in: git)
  }

  private mutating func walk(from old: String, to new: String, in git: Git) throws {
    let walk = try TreeWalk(from: old, to: new, in: git)
    for (path, entry) in walk.entries { add(entry, at: path[...]) }
    folders = walk.skipped.map { String(decoding: $0, as: UTF8.self) }
  }

  private mutating func add(_ entry: Entry, at path: ArraySlice<UInt8>) {
    if let text = String(validating: path, as: UTF8.self), text.isUnambiguousName {
      entries[text] = entry
    } else if entry.name != nil {
      unreadable.append(path)
    }
  }

  /// Throws an error if the files of a folder are not listed.
  ///
  /// - Throws: `tooManyFiles`.
  func requireAllFiles(outside prefix: String? = nil) throws {
    let folder = folders.first { folder in prefix.map { !"\(folder)/".hasPrefix($0) } ?? true }
    if let folder { throw SyncError.tooManyFiles(commit: commit, folder: folder) }
  }

  /// Removes the folders that name too many files, with all their entries.
  ///
  /// - Parameters:
  ///   - allowed: The files that are allowed.
  ///   - prefix: The path of the store.
  /// - Returns: The removed folders, each as the whole folder that does not belong in a store, if there is one.
  /// - Throws: `tooManyFiles` for a folder outside the store, because nothing there may be dropped.
  mutating func refuseFolders(outside allowed: AllowedFiles, below prefix: String) throws -> [RefusedChange] {
    try requireAllFiles(outside: prefix)
    return removeFolders(outside: allowed, below: prefix).map {
      RefusedChange(path: $0, reason: .file(.tooManyFiles))
    }
  }

  /// Removes the folders of the store that name too many files, with all their entries.
  ///
  /// - Returns: The removed folders, as paths in the store, sorted.
  mutating func removeFolders(outside allowed: AllowedFiles, below prefix: String) -> [String] {
    let removed = Set(
      folders.filter { $0.hasPrefix(prefix) }.map {
        allowed.strayFolder(of: String($0.dropFirst(prefix.count)))
      })
    if removed.isEmpty { return [] }
    for path in entries.keys where isInside(path, removed, below: prefix) { entries[path] = nil }
    unreadable = unreadable.filter { !isInside(String(decoding: $0, as: UTF8.self), removed, below: prefix) }
    return removed.sorted()
  }

  private func isInside(_ path: String, _ folders: Set<String>, below prefix: String) -> Bool {
    guard path.hasPrefix(prefix) else { return false }
    let inStore = path.dropFirst(prefix.count)
    return inStore.indices.contains { inStore[$0] == "/" && folders.contains(String(inStore[..<$0])) }
  }

  /// Removes the entries that are not allowed in a store.
  ///
  /// - Parameters:
  ///   - allowed: The files that are allowed.
  ///   - prefix: The path of the store. Files outside it belong to the user and are all allowed.
  ///   - isIncoming: True if the files will be written to this work tree.
  /// - Returns: The removed entries.
  /// - Throws: `unsafePath` for a path outside the store that cannot be handled; `tooManyFiles` for a folder there.
  mutating func refuse(
    outside allowed: AllowedFiles, below prefix: String, isIncoming: Bool = true
  ) throws -> [RefusedChange] {
    var refused: [RefusedChange] = try refuseFolders(outside: allowed, below: prefix)
    for path in unreadable {
      guard path.starts(with: prefix.utf8) else {
        if isIncoming { throw SyncError.unsafePath(String(decoding: path, as: UTF8.self)) }
        continue
      }
      let shown = String(decoding: path.dropFirst(prefix.utf8.count), as: UTF8.self)
      refused.append(RefusedChange(path: shown, reason: .file(.name)))
    }
    unreadable = []
    for (path, entry) in entries where entry.name != nil {
      guard path.hasPrefix(prefix) else {
        if isIncoming, path.utf8.contains(UInt8(ascii: "\n")) { throw SyncError.unsafePath(path) }
        continue
      }
      let inStore = String(path.dropFirst(prefix.count))
      guard let reason = allowed.reason(inStore, mode: entry.mode) else { continue }
      // A merge writes plain files. See `executables(below:)`.
      if reason == .executable, StoreLayout.isStoreFile(inStore) { continue }
      refused.append(RefusedChange(path: inStore, reason: .file(reason)))
      entries[path] = nil
    }
    return refused
  }

  /// Removes the entries that would leave the store without a readable policy, its signature, or a key file that it
  /// needs. The remote's policy and its signature are either both used or both refused.
  ///
  /// - Parameters:
  ///   - people: The people whose key files are needed, besides those of the remote's policy. Those of removed people
  ///     show to whom a subkey belongs.
  ///   - prefix: The path of the store in the repository.
  ///   - refused: The changes that were refused before.
  ///   - objects: The contents.
  /// - Returns: The refused changes. A policy or signature that is only refused together with the other one is not
  ///   listed.
  /// - Throws: The errors of `Git.run`.
  mutating func refuseLosses(
    of people: Set<Fingerprint>, below prefix: String, after refused: [RefusedChange],
    _ objects: ObjectReader
  ) throws -> [RefusedChange] {
    let pair = [StoreLayout.policy, StoreLayout.policySignature]
    var lost: [RefusedChange] = []
    var people = people
    if let name = entries[prefix + StoreLayout.policy]?.name,
      let bytes = try objects.contents(of: [name], limit: StoreLayout.smallFileLimit)[name]
    {
      do throws(PolicyError) {
        people.formUnion(try Policy.parse(bytes).people.keys)
      } catch {
        lost.append(RefusedChange(path: StoreLayout.policy, reason: .policy(error)))
      }
    }
    for file in pair + people.map(StoreLayout.keyFile) {
      guard let entry = entries[prefix + file], entry.name == nil else { continue }
      lost.append(RefusedChange(path: file, reason: .needed))
      entries[prefix + file] = nil
    }
    if (lost + refused).contains(where: { pair.contains($0.path) }) {
      for file in pair { entries[prefix + file] = nil }
    }
    return lost
  }

  /// Removes the entries of key files of people who are not in the policy of the remote.
  ///
  /// - Parameters:
  ///   - people: The people whose key files are allowed, in addition to those of the remote's policy.
  ///   - prefix: The path of the store in the repository.
  ///   - objects: The contents.
  /// - Returns: The refused changes.
  /// - Throws: The errors of `Git.run`.
  mutating func refuseStrangers(
    besides people: Set<Fingerprint>, below prefix: String, _ objects: ObjectReader
  ) throws -> [RefusedChange] {
    let files = entries.filter { $0.value.name != nil && $0.key.hasPrefix("\(prefix)\(StoreLayout.keys)/") }
      .keys
    if files.isEmpty { return [] }
    let people = people.union(try policy(below: prefix, objects)?.people.keys ?? [:].keys)
    let known = Set(people.map { prefix + StoreLayout.keyFile($0) })
    let strangers = files.filter { !known.contains($0) }
    for path in strangers { entries[path] = nil }
    return strangers.map { RefusedChange(path: String($0.dropFirst(prefix.count)), reason: .file(.stranger)) }
  }

  /// Removes the entries of key files whose contents are not those that the policy names. Only the policy is signed.
  ///
  /// - Parameters:
  ///   - local: Returns the policy of the commit that is merged into. It is used if the remote has not changed the policy.
  ///   - prefix: The path of the store in the repository.
  ///   - objects: The contents.
  /// - Returns: The refused changes.
  /// - Throws: The errors of `local` and `Git.run`.
  mutating func refuseReplacedKeys(
    unless local: () throws -> Policy?, below prefix: String, _ objects: ObjectReader
  ) throws -> [RefusedChange] {
    let folder = "\(prefix)\(StoreLayout.keys)/"
    let files = entries.filter { $0.key.hasPrefix(folder) }.compactMapValues(\.name)
    if files.isEmpty { return [] }
    guard let policy = try policy(below: prefix, objects) ?? local() else { return [] }
    let contents = try objects.contents(of: Set(files.values), limit: StoreLayout.keyFileLimit)
    var refused: [RefusedChange] = []
    for person in policy.people.keys {
      let path = prefix + StoreLayout.keyFile(person)
      guard let name = files[path], let bytes = contents[name], !policy.covers(bytes, of: person) else {
        continue
      }
      entries[path] = nil
      refused.append(
        RefusedChange(path: StoreLayout.keyFile(person), reason: .keyFile(.notInPolicy)))
    }
    return refused
  }

  /// Returns the changed policy; nil if it has not changed, or cannot be read, which is refused before.
  private func policy(below prefix: String, _ objects: ObjectReader) throws -> Policy? {
    guard let name = entries[prefix + StoreLayout.policy]?.name,
      let bytes = try objects.contents(of: [name], limit: StoreLayout.smallFileLimit)[name]
    else { return nil }
    return try? Policy.parse(bytes)
  }

  /// Returns the files of the store that are executable. A merge receives their contents and writes plain files.
  ///
  /// - Parameter prefix: The path of the store in the repository.
  func executables(below prefix: String) -> [RefusedChange] {
    entries.filter { $0.value.mode == "100755" && $0.key.hasPrefix(prefix) }.keys
      .map { String($0.dropFirst(prefix.count)) }.filter(StoreLayout.isStoreFile)
      .map { RefusedChange(path: $0, reason: .executable) }
  }

  /// Removes the entries of files that are too large, before any of them is read.
  ///
  /// - Parameters:
  ///   - prefix: The path of the store.
  ///   - objects: The reader of the contents.
  /// - Returns: The removed entries.
  /// - Throws: `tooLarge` if the total size is too large compared with the size in the repository; the errors of
  ///   `Git.run`.
  mutating func refuseLarge(
    below prefix: String, _ objects: ObjectReader
  ) throws -> [RefusedChange] {
    let infos = try objects.infos(of: Set(entries.values.compactMap(\.name)), mayBeMissing: true)
    var refused: [RefusedChange] = []
    var known: [String: ObjectReader.Info] = [:]
    for (path, entry) in entries where path.hasPrefix(prefix) {
      guard let name = entry.name, let info = infos[name] else { continue }
      let inStore = String(path.dropFirst(prefix.count))
      let limit = StoreLayout.sizeLimit(of: inStore)
      if info.size > limit {
        refused.append(RefusedChange(path: inStore, reason: .tooLarge(size: info.size, limit: limit)))
        entries[path] = nil
      } else if !inStore.hasPrefix("\(StoreLayout.index)/") {
        // Shards are rebuilt from the records and not read.
        known[name] = info
      }
    }
    try ObjectReader.requireProportion(known.values)
    return refused
  }
}
