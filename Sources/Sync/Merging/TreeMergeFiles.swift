internal import Keyring
internal import KeyringModel

/// The merge of files that are not items.
extension TreeMerge {
  /// Merges all other files: the version of the side that changed a file is used.
  func mergeFiles(into result: inout MergedFiles) throws {
    var contested: [String] = []
    var hasTwoPolicies = false
    var wanted: [String: String] = [:]
    var bothChanged: [(path: String, name: String, isFree: Bool)] = []
    for (path, entry) in theirs.changes.entries {
      let inStore = path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : ""
      if isMadeFromItems(inStore) { continue }
      let isOfPolicy = [StoreLayout.policy, StoreLayout.policySignature].contains(inStore)
      let isAboutPeople = isOfPolicy || inStore.hasPrefix("\(StoreLayout.keys)/")
      if policySide == .ours, isAboutPeople { continue }
      let isTaken = policySide == .theirs && isAboutPeople
      if let mine = ours.changes.entries[path], !isTaken {
        if mine.name != entry.name {
          if StoreLayout.isForeignFile(inStore) {
            if let name = entry.name { bothChanged.append((inStore, name, mine.name == nil)) }
            continue
          }
          contested.append(path)
        }
        hasTwoPolicies = hasTwoPolicies || (mine.name != entry.name && isOfPolicy)
        continue
      }
      guard StoreLayout.isTracked(inStore) else {
        result.others[path] = OtherFile(mode: entry.mode, name: entry.name)
        continue
      }
      if let name = entry.name { wanted[inStore] = name } else { result.store[inStore] = .removed }
    }
    if hasTwoPolicies { throw SyncError.policiesDiverged }
    guard contested.isEmpty else { throw SyncError.bothChanged(contested.sorted()) }
    let names = Set(wanted.values).union(bothChanged.map(\.name))
    let contents = try objects.contents(of: names, limit: StoreFiles.sizeLimit)
    for (path, name) in wanted {
      guard let bytes = contents[name] else { throw GitError.unexpectedOutput(command: "cat-file") }
      if StoreLayout.isForeignFile(path) {
        result.receive(bytes, asForeignFile: path)
      } else {
        result.store[path] = .bytes(bytes)
      }
    }
    // A change of a file of another program wins over its deletion or adoption, and of two changes both are kept.
    for file in bothChanged {
      guard let bytes = contents[file.name] else { throw GitError.unexpectedOutput(command: "cat-file") }
      result.receive(
        bytes, asForeignFile: file.isFree ? file.path : SecondPath.of(file.path, ContentDigest(of: bytes)),
        from: file.path)
    }
  }

  /// Writes the key files that the policy names for those that were refused. This clone may not have them yet, because
  /// the remote's policy is newer.
  func restoreKeyFiles(into result: inout MergedFiles) {
    let refused = Set(refusedFiles.filter { $0.reason == .keyFile(.notInPolicy) }.map(\.path))
    if refused.isEmpty { return }
    for person in judge.policy.people.keys {
      let path = StoreLayout.keyFile(person)
      if refused.contains(path), let bytes = judge.keyFile(of: person) { result.store[path] = .bytes(bytes) }
    }
  }

  /// Writes the policy that was replaced by an older one on the remote.
  func writeNewestPolicy(into result: inout MergedFiles) {
    guard let newestPolicy, let signature = newestPolicy.signature else { return }
    result.store[StoreLayout.policy] = .bytes(newestPolicy.bytes)
    result.store[StoreLayout.policySignature] = .bytes(signature)
    for person in judge.policy.people.keys {
      guard let bytes = judge.keyFile(of: person), bytes != keyring.keyFile(of: person) else { continue }
      result.store[StoreLayout.keyFile(person)] = .bytes(bytes)
    }
  }

  /// Stores messages that the remote has directly in the folder of a class under names that no folder of items can
  /// have. Everything else there stays refused.
  func moveMisplacedFiles(into result: inout MergedFiles) throws {
    if misplaced.isEmpty { return }
    let limit = StoreLayout.sealedItemLimit
    let small = try objects.infos(of: Set(misplaced.values)).filter { $0.value.size <= limit }
    let contents = try objects.contents(of: Set(small.keys), limit: StoreFiles.sizeLimit)
    for (path, name) in misplaced {
      guard let bytes = contents[name], judge.isMessage(bytes) else { continue }
      result.receive(bytes, asForeignFile: SecondPath.of(path, ContentDigest(of: bytes)), from: path)
      result.refused.removeAll { $0.path == path }
    }
  }

  /// Returns the items whose changed file is not new: another item of this side has it, or the item had it before. A
  /// person without a key can copy such a file, but a program that changes a secret creates a new one.
  ///
  /// - Parameters:
  ///   - paths: The items.
  ///   - files: The files of the items.
  ///   - side: The side that changed the files. The past of the items is searched for the remote only, because the file
  ///     of this side may have arrived with an earlier merge.
  func replayedFiles(
    at paths: [ItemPath], _ files: ItemFiles, side: MergeSide
  ) throws -> Set<ItemPath> {
    if paths.isEmpty { return [] }
    let folders = [StoreLayout.items, StoreLayout.conflicts].map { prefix + $0 }
    let records = try repository.git.records(
      ["ls-tree", "-r", "-z", "--full-tree", ours.commit, "--"] + folders)
    var places: [String: Set<String>] = [:]
    for record in records {
      // `<mode> <type> <name>`, a tab, and the path.
      guard let tab = record.firstIndex(of: UInt8(ascii: "\t")),
        let name = record[..<tab].split(separator: UInt8(ascii: " ")).last
      else { throw GitError.unexpectedOutput(command: "ls-tree") }
      let path = String(decoding: record[(tab + 1)...], as: UTF8.self)
      places[String(decoding: name, as: UTF8.self), default: []].insert(path)
    }
    let secrets = paths.map { prefix + ItemFiles.secretFile($0) }
    let past = side == .theirs ? Set(try objects.pastNames(of: secrets, in: bases)) : []
    return Set(
      paths.filter { path in
        guard let name = files.secretName(path, at: side == .ours ? ours.commit : theirs.commit) else {
          return false
        }
        let others = places[name, default: []].subtracting([prefix + ItemFiles.secretFile(path)])
        return past.contains(name) || !others.isEmpty
      })
  }

  /// Returns true if a file is merged or rebuilt together with the items.
  private func isMadeFromItems(_ path: String) -> Bool {
    let folder = "\(StoreLayout.index)/"
    if path.hasPrefix(folder), StoreLayout.shardNumber(String(path.dropFirst(folder.count))) != nil {
      return true
    }
    return StoreLayout.itemPath(ofFile: path) != nil || StoreLayout.isConflictFile(path)
      || path == StoreLayout.passRecipients
  }

  /// Writes the file with the recipients for other programs. It is never taken from the remote, because other programs
  /// encrypt to the recipients in it.
  func renewPassRecipients(_ result: inout MergedFiles) throws {
    let isTheirs = result.store[StoreLayout.policy] != nil
    let wanted = isTheirs ? judge.passRecipients : keyring.passRecipients
    let name = "\(ours.commit):\(prefix)\(StoreLayout.passRecipients)"
    if try objects.contents(of: [name], limit: StoreLayout.smallFileLimit)[name] != wanted {
      result.store[StoreLayout.passRecipients] = .bytes(wanted)
    }
  }
}
