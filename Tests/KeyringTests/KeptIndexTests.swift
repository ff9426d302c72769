import Glibc
import Keyring
import KeyringModel
import Secrets
import Synchronization
import TestSupport
import Testing

/// Tests that an index that is kept in memory gives the same answers as the files.
@Suite(.serialized, .slow) struct KeptIndexTests {
  /// Clocks that are stopped until a test changes them.
  final class Clocks: Sendable {
    let now = Mutex<Int64?>(nil)
    let elapsed = Atomic<Int64>(0)

    static let second: Int64 = 1_000_000_000

    /// - Parameter tick: The resolution of the file clock in nanoseconds.
    func clock(tick: Int64 = 1) -> FileClock {
      var clock = FileClock()
      let real = clock.now
      clock.now = { self.now.withLock { $0 } ?? real() }
      clock.elapsed = { self.elapsed.load(ordering: .relaxed) }
      clock.tick = tick
      return clock
    }

    /// Makes all files seem old, so that no change is hidden in the same tick as an earlier change.
    func makeFilesOld() { now.withLock { $0 = FileClock().now() + 10 * Self.second } }
    func wait() { elapsed.add(Self.second, ordering: .relaxed) }
  }

  /// The result of a query, or the kind of its error.
  struct Answer: Equatable {
    var items: [ItemRecord] = []
    var problems: [IndexProblem] = []
    var isIndexLost = false
    var error: KeyringError?

    private init(error: KeyringError) { self.error = error }

    init(_ matches: Matches) {
      (items, problems, isIndexLost) = (matches.items, matches.problems, matches.isIndexLost)
    }

    init(_ query: Query, _ keyring: Keyring) {
      do throws(KeyringError) {
        self.init(try keyring.find(query))
      } catch {
        // If several files cannot be read, threads report the first one that they reach.
        if case .file = error {
          self.init(error: .file(FileError("read", "", .notARegularFile)))
        } else {
          self.init(error: error)
        }
      }
    }
  }

  @Test(
    "all answers match the files while these change in every way",
    arguments: [1, 30_000_000] as [Int64], 0..<2 as Range<UInt64>)
  func law(tick: Int64, seed: UInt64) throws {
    let clocks = Clocks()
    var changing = try ChangingStore(seed: seed)
    let kept = try changing.store.openKept(clock: clocks.clock(tick: tick))
    var (found, failed, damaged) = (0, 0, 0)
    for round in 0..<60 {
      for _ in 0..<round % 3 { try changing.change() }
      // Only an overwrite in place may stay unnoticed until then.
      if changing.isOverwritten { clocks.wait() }
      changing.isOverwritten = false
      for _ in 0..<3 {
        let query = changing.query()
        let answer = Answer(query, kept)
        #expect(answer == Answer(query, changing.writer), "\(query)")
        found += answer.items.count
        failed += answer.error == nil ? 0 : 1
        damaged += answer.problems.count
      }
    }
    // The test is meaningful only if these cases occurred.
    #expect(found > 50 && failed > 0 && damaged > 0)
  }

  @Test(
    "queries that are run together get the same answers as alone", arguments: 0..<3 as Range<UInt64>)
  func together(seed: UInt64) throws {
    let clocks = Clocks()
    var changing = try ChangingStore(seed: 100 + seed)
    let kept = try changing.store.openKept(clock: clocks.clock())
    var (found, failed) = (0, 0)
    for round in 0..<40 {
      for _ in 0..<round % 3 { try changing.change() }
      if changing.isOverwritten { clocks.wait() }
      changing.isOverwritten = false
      let queries = (0..<4).map { _ in changing.query() }
      for keyring in [kept, changing.writer] {
        let alone = queries.map { Answer($0, keyring) }
        if alone.contains(where: { $0.error != nil }) {
          #expect(throws: KeyringError.self) { try keyring.index.find(queries) }
          failed += 1
        } else {
          #expect(try keyring.index.find(queries).map(Answer.init) == alone)
          found += alone.reduce(0) { $0 + $1.items.count }
        }
      }
    }
    #expect(found > 50 && failed > 0)
  }

  @Test func `the first queries read files, and later ones read nothing`() throws {
    let store = StandInStore()
    _ = try store.create().addAll(
      (0..<50).map { .login("host\($0).example", "me") }, secret: { _ in SecretBytes(text: "s") })
    let clocks = Clocks()
    clocks.makeFilesOld()
    let kept = try store.openKept(clock: clocks.clock())
    let query = Query(predicates: [.equal(.server, "host7.example")])
    let first = try kept.find(query)
    #expect(first.items.count == 1 && first.statistics.linesParsed == 50)
    for query in [query, Query(), Query(predicates: [.id(first.items[0].id)])] {
      let later = try kept.find(query)
      #expect(!later.items.isEmpty && later.isFromMemory)
    }
    // A change costs one read of its shard.
    try store.open().add(.login("new.example", "me"), secret: SecretBytes(text: "s"))
    let fresh = try kept.find(Query())
    #expect(fresh.items.count == 51 && fresh.statistics.shardsRead == 1)
  }

  @Test func `many records are searched on several threads, and come in the same order`() throws {
    let store = StandInStore()
    let writer = try store.create()
    let login = try writer.add(.login("host.example", "me"), secret: SecretBytes(text: "s"))
    try fill(store, like: login, count: 2500)
    let kept = try store.openKept()
    // This query has no bytes to search for, so memory is used.
    let dates = Predicate(
      subject: .attribute(.modified), comparison: .after(Timestamp(microseconds: 0)))
    for query in [Query(), Query(predicates: [dates]), Query(predicates: [dates], limit: .count(5))] {
      let answer = Answer(query, kept)
      #expect(answer == Answer(query, writer) && answer.items.count >= 5)
    }
    usleep(100_000)
    _ = try kept.find(Query())
    #expect(try kept.find(Query(predicates: [dates])).statistics.shardsRead == 0)
    for (text, ignoresCase) in [("label 3", false), ("LABEL 3", true)] {
      let selective = Predicate(
        subject: .attribute(.label), comparison: .prefix(.string(text)), ignoresCase: ignoresCase)
      let found = try kept.find(Query(predicates: [selective]))
      #expect(found.statistics.shardsRead == 256 && found.items.count >= 5, "files are faster")
    }
  }

  /// Writes the lines of many items without their files.
  private func fill(_ store: StandInStore, like record: ItemRecord, count: Int) throws {
    var generator = SeededGenerator(seed: 1)
    var lines: [String: [UInt8]] = [:]
    for number in 0..<count {
      var attributes = record.attributes
      attributes[.server] = .string("host\(number).example")
      attributes[.label] = .string("label \(number % 7)")
      let line = ItemRecord(
        itemClass: record.itemClass, id: ItemID(using: &generator), revision: record.revision,
        created: record.created, modified: record.modified, secretModified: record.secretModified,
        group: record.group, sealed: record.sealed, attributes: attributes)
      lines[StoreLayout.shardFile(line.path.shard, isLocal: false), default: []] +=
        try IndexLine.encode(line) + [10]
    }
    for (file, bytes) in lines { try store.tree().replaceFile(file, with: bytes, temporary: "new") }
  }

  @Test func `a file that is overwritten in place is noticed after a second`() throws {
    let changing = try ChangingStore(seed: 1)
    let clocks = Clocks()
    clocks.makeFilesOld()
    let kept = try changing.store.openKept(clock: clocks.clock())
    let record = try #require(try kept.find(Query()).items.first { !$0.isLocal })
    let file = StoreLayout.shardFile(record.path.shard, isLocal: false)
    try changing.overwrite(file, [])
    #expect(try kept.find(Query(predicates: [.id(record.id)])).items.count <= 1)
    clocks.wait()
    #expect(try kept.find(Query(predicates: [.id(record.id)])).items.isEmpty)
  }

  @Test func `a change is computed from the files, even if the index in memory is older`() throws {
    let store = StandInStore()
    let changing = try store.create()
    let record = try changing.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    let clocks = Clocks()
    clocks.makeFilesOld()
    let kept = try store.openKept(clock: clocks.clock())
    _ = try kept.find(Query())
    var edited = record
    edited.attributes[.label] = "by hand"
    let path = "\(store.path)/\(StoreLayout.shardFile(record.path.shard, isLocal: false))"
    let line = try IndexLine.encode(edited) + [10]
    let file = unsafe open(path, O_WRONLY | O_TRUNC)
    #expect(unsafe write(file, line, line.count) == line.count)
    close(file)
    // Values that only the index has are ignored.
    let new = try kept.update(record, AttributeChanges(set: [.comment: "by program"]))
    #expect(new.attributes[.label] == nil && new.attributes[.comment] == "by program")
    #expect(try kept.find(Query()).items == [new])
    let labelled = try changing.update(new, .set(.label, "by another process"))
    let both = try kept.update(new, .set(.comment, "again"))
    #expect(both.attributes[.label] == labelled.attributes[.label])
  }

  @Test func `changes within one tick of the file system's clock are noticed`() throws {
    let store = StandInStore()
    let writer = try store.create()
    let record = try writer.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    // Everything in this test happens in one tick, which begins now.
    let tick = 3600 * Clocks.second
    let clocks = Clocks()
    let start = FileClock().now() / tick * tick
    clocks.now.withLock { $0 = start }
    let kept = try store.openKept(clock: clocks.clock(tick: tick))
    let file = StoreLayout.shardFile(record.path.shard, isLocal: false)
    for number in 0..<20 {
      var edited = record
      edited.attributes[.label] = .string("\(number + 100)")
      let line = try IndexLine.encode(edited) + [10]
      if number % 2 == 0 {
        try store.tree().replaceFile(file, with: line, temporary: "index/new")
      } else {
        let descriptor = unsafe open("\(store.path)/\(file)", O_WRONLY)
        #expect(unsafe write(descriptor, line, line.count) == line.count)
        close(descriptor)
      }
      #expect(try kept.find(Query(predicates: [.equal(.server, "a.example")])).items == [edited])
    }
    clocks.now.withLock { $0 = start + 2 * tick }
    _ = try kept.find(Query())
    #expect(try kept.find(Query()).isFromMemory)
  }

  @Test func `a change by the library is noticed even if no time stamp of a folder shows it`() throws {
    let store = StandInStore()
    let writer = try store.create()
    let record = try writer.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    let clocks = Clocks()
    clocks.now.withLock { $0 = FileClock().now() + 7200 * Clocks.second }
    let kept = try store.openKept(clock: clocks.clock(tick: 3600 * Clocks.second))
    _ = try kept.find(Query())
    for number in 0..<5 {
      let new = try writer.update(record, AttributeChanges(set: [.label: .string("\(number)")]))
      #expect(try kept.find(Query()).items == [new])
    }
  }

  @Test func `threads see every change that was finished before their query`() throws {
    let store = StandInStore()
    let writer = try store.create()
    let record = try writer.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    _ = try writer.addAll(
      (0..<100).map { .login("host\($0).example", "me") }, secret: { _ in SecretBytes(text: "s") })
    let kept = try store.openKept()
    let done = Atomic(0)
    let looks = Atomic(0)
    let rounds = 150
    try ThreadGroup.run(9) { number in
      guard number > 0 else {
        defer { done.store(rounds, ordering: .releasing) }
        for round in 1...rounds {
          // Each change goes to another shard, so a mix of two states would have the item twice or not at all.
          try writer.update(
            record,
            AttributeChanges(set: [.server: .string("s\(round).example"), .label: .string("\(round)")]))
          done.store(round, ordering: .releasing)
        }
        return
      }
      while done.load(ordering: .acquiring) < rounds {
        let before = done.load(ordering: .acquiring)
        let query = Query(
          predicates: number % 2 == 0 ? [.id(record.id)] : [.equal(.account, "me"), .id(record.id)])
        let items = try kept.find(query).items
        #expect(items.count == 1)
        guard case .string(let label) = items.first?.attributes[.label] ?? "0" else { continue }
        #expect(try #require(Int(label)) >= before)
        looks.add(1, ordering: .relaxed)
      }
    }
    #expect(looks.load(ordering: .relaxed) > 20)
    #expect(Answer(Query(), kept) == Answer(Query(), writer))
  }

  @Test func `the committed change of a killed writer is finished and noticed`() throws {
    let store = StandInStore()
    let record = try store.create().add(.login("a.example", "me"), secret: SecretBytes(text: "old"))
    let kept = try store.openKept()
    #expect(try kept.find(Query()).items == [record])
    let isDecided = Atomic(false)
    let dying = try store.open(faults: { operation, path in
      if isDecided.load(ordering: .relaxed) { return .fail(4) }
      if operation == .rename && path.hasSuffix("commit.json") { isDecided.store(true, ordering: .relaxed) }
      return nil
    })
    #expect(throws: KeyringError.self) { try dying.update(record, secret: SecretBytes(text: "new")) }
    let fresh = try #require(try kept.find(Query()).items.first)
    #expect(fresh.revision != record.revision)
    #expect(try kept.text(of: fresh) == "new")
    #expect(try store.tree().list(".keytree") == ["lock"])
  }
}

extension Matches {
  fileprivate var isFromMemory: Bool { statistics.shardsRead == 0 && statistics.linesParsed == 0 }
}
