internal import KeyringModel
internal import OpenPGP

extension Keyring {
  /// What became of messages that a merge by plain git had no place for.
  package struct Settlement: Sendable, Equatable {
    /// How many have their place now.
    package var placed = 0
    /// How many still wait, since nobody here can decrypt them to see what they are.
    package var waiting = 0
    /// The files that were brought back from the history, by their paths in the store.
    package var restored: [String] = []
  }

  /// The items whose lines have no file, those of this machine alone left out.
  ///
  /// - Parameter noted: Whether only those are looked at that a merge driver has noted.
  /// - Throws: a file error.
  package func itemsWithoutFile(noted: Bool) throws(KeyringError) -> [ItemRecord] {
    let ids = noted ? try KeptMessages(of: tree).notedIDs() : []
    if noted && ids.isEmpty { return [] }
    var lost: [ItemRecord] = []
    for record in try lines() where !noted || ids.contains(record.id) {
      if try !hasFile(record) { lost.append(record) }
    }
    return lost
  }

  /// The messages that merge drivers have kept.
  ///
  /// - Throws: a file error.
  package func keptMessages() throws(KeyringError) -> [[UInt8]] {
    Array(try KeptMessages(of: tree).messages().values)
  }

  func hasFile(_ record: ItemRecord) throws(KeyringError) -> Bool {
    try files(tree.status(SettlementPlan.file(of: record))) != nil
  }

  /// What the lines of the index say, one line for each place; a search leaves out an item's second place.
  private func lines() throws(KeyringError) -> [ItemRecord] {
    var byPath: [ItemPath: [ItemRecord]] = [:]
    for number in UInt8.min...UInt8.max {
      let bytes = try Keyring.fileBytes(StoreLayout.shardFile(number, isLocal: false), tree)
      for record in Shard(parsing: bytes, number: number).records {
        byPath[record.path, default: []].append(record)
      }
    }
    var result: [ItemRecord] = []
    for lines in byPath.values {
      let latest = lines.dropFirst().reduce(lines[0]) { $1.isLater(than: $0, bySecret: false) ? $1 : $0 }
      var described: ItemRecord?
      if lines.count > 1, let message = try message(of: latest) {
        let digest = ContentDigest(of: message)
        described = lines.first { $0.sealed == digest }
      }
      result.append(described ?? latest)
    }
    return result
  }

  /// The message of an item; nil where there is no file, or something else in its place, which `check` tells of.
  func message(of record: ItemRecord) throws(KeyringError) -> [UInt8]? {
    do throws(KeyringError) {
      return try ItemReader(keyring: self).message(of: record)
    } catch {
      guard case .itemDamaged = error else { throw error }
      return nil
    }
  }

  /// Gives the messages that merge drivers have kept their places: those that a line names, and others a line of their
  /// own as conflict copies. An item that one side has renamed and the other one has changed becomes one item again.
  /// Nothing to do costs a look at a folder.
  ///
  /// - Parameters:
  ///   - past: Messages from the history that lines without a file name; git removes such a file where one side has
  ///     deleted the item and the other one has changed its attributes.
  ///   - known: Kept messages that the history has as well. One that no line names is what is left of a merge that was
  ///     given up, and is forgotten.
  ///   - isThorough: Whether all items are looked at although nothing is kept.
  /// - Returns: What became of them.
  /// - Throws: `KeyringError.policyNotTrusted`, `.busy`, `.shardRefused`, `.engine`, or a file error.
  package func settleMerges(
    past: [ContentDigest: [UInt8]] = [:], known: Set<ContentDigest> = [], isThorough: Bool = false
  ) throws(KeyringError) -> Settlement {
    let kept = KeptMessages(of: tree)
    let isIdle = try kept.isEmpty
    if isIdle && past.isEmpty && !isThorough { return Settlement() }
    try requireTrust()
    let lock = try StoreLock(tree, timeout: host.lockTimeout)
    try Transaction.recover(in: tree, under: lock)
    var plan = SettlementPlan(
      keyring: self, records: try lines(), messages: try kept.messages(), past: past, known: known)
    try plan.join(bases: try kept.bases())
    try plan.findMessages()
    try plan.run()
    // What was in a file that is replaced, and has no place yet, goes on waiting.
    for digest in plan.waiting where plan.messages[digest] == nil { try plan.pool[digest].map(kept.keep) }
    var transaction = Transaction(in: tree)
    do {
      for (file, message) in plan.files.sorted(by: { $0.key < $1.key }) {
        try transaction.place(message, at: file)
      }
      for (file, bytes) in try plan.shards() { try transaction.place(bytes, at: file) }
      for file in plan.removed.subtracting(plan.files.keys).sorted() { transaction.remove(file) }
    } catch {
      transaction.abandon()
      throw error
    }
    let isNothing = transaction.isEmpty
    try transaction.commit(under: lock, subject: "settle a merge")
    // The lines that belong to these files were written by a driver, perhaps for a merge that git has not committed.
    if !isNothing { try CommitJournal(of: tree).forget() }
    try kept.remove(plan.done)
    return Settlement(
      placed: plan.files.count, waiting: plan.waiting.count,
      restored: plan.files.filter { past[ContentDigest(of: $0.value)] != nil }.map(\.key).sorted())
  }
}

extension Keyring {
  static func fileBytes(_ file: String, _ tree: FileTree) throws(KeyringError) -> [UInt8] {
    try files(tree.read(file, limit: StoreLayout.shardLimit)) ?? []
  }
}
