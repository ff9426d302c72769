internal import Foundation
internal import KeychainServices
internal import OpenPGP

/// The measurements with several threads, and those of secrets that are kept in memory.
enum SecItemThreads {
  private static let threads = 8

  /// Adds items with one thread, and as many with eight.
  static func compare(_ count: Int) throws {
    let one = try time { try add(0..<count, "one") }
    let eight = try time {
      try concurrently { number in
        try add((number * count / threads)..<((number + 1) * count / threads), "eight")
      }
    }
    SecItemBenchmark.tell("one thread, adds per second", Double(count) / (one / .seconds(1)))
    SecItemBenchmark.tell("eight threads, adds per second", Double(count) / (eight / .seconds(1)))
    SecItemBenchmark.tell("signatures made", Double(KeychainStatistics.current.signatures))
  }

  /// Reads items twice. The second read uses the kept secret if the environment asks for it.
  static func readTwice(_ count: Int) throws {
    try add(0..<count, "kept")
    // A new session, so that the first read decrypts.
    let settings = KeychainSettings.current
    KeychainSettings.current = settings
    let first = try time { try read(0..<count, "kept") }
    // Wait until the timestamps of files that were just written are old enough to be relied on.
    Thread.sleep(forTimeInterval: 0.1)
    let before = KeychainStatistics.current.decryptions
    let second = try time { try read(0..<count, "kept") }
    SecItemBenchmark.tell("first read, us", first / .microseconds(1) / Double(count))
    SecItemBenchmark.tell("second read, us", second / .microseconds(1) / Double(count))
    SecItemBenchmark.tell("second decryptions", Double(KeychainStatistics.current.decryptions - before))
  }

  /// Replaces items and reads them with eight threads: each replacement deletes an item and adds it again, and is
  /// followed by two reads.
  static func storm(_ count: Int) throws {
    let all = try time {
      try concurrently { number in
        try add(number..<number + 1, "storm")
        for _ in 0..<count / threads {
          try SecItemBenchmark.expect("SecItemDelete", SecItemDelete(item(number, "storm") as CFDictionary))
          try add(number..<number + 1, "storm")
          for _ in 0..<2 { try read(number..<number + 1, "storm") }
        }
      }
    }
    SecItemBenchmark.tell("all, s", all / .seconds(1))
    SecItemBenchmark.tell("signatures made", Double(KeychainStatistics.current.signatures))
    SecItemBenchmark.tell("decryptions", Double(KeychainStatistics.current.decryptions))
  }

  /// Replaces one item again and again, as a library does that lets one thread after the other write.
  static func replaceOne(_ count: Int) throws {
    try add(0..<1, "replaced")
    let all = try time {
      for _ in 0..<count {
        try SecItemBenchmark.expect("SecItemDelete", SecItemDelete(item(0, "replaced") as CFDictionary))
        try add(0..<1, "replaced")
      }
    }
    SecItemBenchmark.tell("one replacement, ms", all / .milliseconds(1) / Double(count))
    SecItemBenchmark.tell("processes started", Double(KeychainStatistics.current.processes))
  }

  private static func item(_ number: Int, _ service: String) -> [String: Any] {
    [
      kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
      kSecAttrAccount as String: "account \(number)",
    ]
  }

  private static func add(_ numbers: Range<Int>, _ service: String) throws {
    for number in numbers {
      var item = item(number, service)
      item[kSecValueData as String] = Data("secret \(number)".utf8)
      try SecItemBenchmark.expect("SecItemAdd", SecItemAdd(item as CFDictionary, nil))
    }
  }

  private static func read(_ numbers: Range<Int>, _ service: String) throws {
    for number in numbers {
      var query = item(number, service)
      query[kSecReturnData as String] = true
      var result: CFTypeRef?
      try SecItemBenchmark.expect(
        "SecItemCopyMatching", unsafe SecItemCopyMatching(query as CFDictionary, &result))
      guard result as? Data == Data("secret \(number)".utf8) else { throw CocoaError(.fileReadCorruptFile) }
    }
  }

  private static func time(_ body: () throws -> Void) rethrows -> Duration {
    try ContinuousClock().measure(body)
  }

  /// Runs a body on each of the threads and waits for all of them.
  ///
  /// - Throws: The first error.
  private static func concurrently(_ body: @escaping @Sendable (Int) throws -> Void) throws {
    let group = DispatchGroup()
    let errors = ErrorList()
    for number in 0..<threads {
      let thread = Thread {
        defer { group.leave() }
        do { try body(number) } catch { errors.add(error) }
      }
      group.enter()
      thread.start()
    }
    group.wait()
    if let error = errors.first { throw error }
  }

  private final class ErrorList: @unchecked Sendable {
    // Unchecked, because the lock protects the list.
    private let lock = NSLock()
    private var errors: [any Error] = []

    func add(_ error: any Error) { lock.withLock { errors.append(error) } }
    var first: (any Error)? { lock.withLock { errors.first } }
  }
}
