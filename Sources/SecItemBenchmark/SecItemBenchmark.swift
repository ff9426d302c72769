internal import Foundation
internal import KeychainServices
internal import OpenPGP

/// The measurements, each on the store that the environment names. Prints `name: number` for each number.
enum SecItemBenchmark {
  /// Runs the measurement that the arguments name.
  ///
  /// - Parameter arguments: `pairs COUNT`; `queries FILE` with a service and an account in each line, separated by a
  ///   tab; `threads COUNT`, the number of items that one thread and then eight threads add; `kept COUNT`, the number of
  ///   items that are read twice; `storm COUNT`, the number of replacements and half of the number of reads; or
  ///   `replacements COUNT`, the number of replacements of one item.
  /// - Returns: The exit status: 0, 1 if a call returned an unexpected result, 2 for other arguments.
  static func run(_ arguments: [String]) -> Int32 {
    do {
      switch arguments.count == 2 ? arguments[0] : "" {
      case "pairs": try pairs(Int(arguments[1]) ?? 0)
      case "queries": try queries(Query.read(arguments[1]))
      case "threads": try SecItemThreads.compare(Int(arguments[1]) ?? 0)
      case "kept": try SecItemThreads.readTwice(Int(arguments[1]) ?? 0)
      case "storm": try SecItemThreads.storm(Int(arguments[1]) ?? 0)
      case "replacements": try SecItemThreads.replaceOne(Int(arguments[1]) ?? 0)
      default: return 2
      }
      return 0
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      return 1
    }
  }

  /// A call that returned an unexpected result.
  private struct UnexpectedStatus: Error {
    let function: String
    let status: OSStatus
  }

  /// Adds items and reads each one back.
  private static func pairs(_ count: Int) throws {
    var (adding, reading) = (Duration.zero, Duration.zero)
    for number in 0..<count {
      var item: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "pairs",
        kSecAttrAccount as String: "account \(number)",
      ]
      let secret = Data("secret \(number)".utf8)
      var query = item
      query[kSecReturnData as String] = true
      item[kSecValueData as String] = secret
      adding += try ContinuousClock().measure {
        try expect("SecItemAdd", SecItemAdd(item as CFDictionary, nil))
      }
      var result: CFTypeRef?
      reading += try ContinuousClock().measure {
        try expect("SecItemCopyMatching", unsafe SecItemCopyMatching(query as CFDictionary, &result))
      }
      guard result as? Data == secret else {
        throw UnexpectedStatus(function: "the data of the added item", status: errSecDecode)
      }
    }
    tell("all, s", (adding + reading) / .seconds(1))
    tell("one add, ms", adding / .milliseconds(1) / Double(count))
    tell("one read, ms", reading / .milliseconds(1) / Double(count))
    tell("processes started", Double(KeychainStatistics.current.processes))
  }

  /// Finds the attributes of items by service and account.
  private static func queries(_ queries: [Query]) throws {
    // The first queries read files; afterwards the index is kept in memory.
    let first = try queries.prefix(20).reduce(Duration.zero) { try $0 + ask($1) }
    tell("the first 20, ms", first / .milliseconds(1))
    // Wait until the timestamps of files that were just written are old enough to be relied on.
    Thread.sleep(forTimeInterval: 0.1)
    _ = try ask(queries[0])
    var inCalls = Duration.zero
    let time = try ContinuousClock().measure { for query in queries { inCalls += try ask(query) } }
    tell("one query, us", inCalls / .microseconds(1) / Double(queries.count))
    tell("with its dictionaries, us", time / .microseconds(1) / Double(queries.count))
    tell("processes started", Double(KeychainStatistics.current.processes))
  }

  /// Runs a query and checks the result.
  ///
  /// - Returns: The duration of the call.
  private static func ask(_ query: Query) throws -> Duration {
    let dictionary: [String: Any] = [
      kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: query.service,
      kSecAttrAccount as String: query.account, kSecReturnAttributes as String: true,
    ]
    let question = dictionary as CFDictionary
    var result: CFTypeRef?
    let time = try ContinuousClock().measure {
      try expect("SecItemCopyMatching", unsafe SecItemCopyMatching(question, &result))
    }
    guard (result as? [String: Any])?[kSecAttrAccount as String] as? String == query.account else {
      throw UnexpectedStatus(function: "the account of the found item", status: errSecDecode)
    }
    return time
  }

  /// Checks the status of a call.
  static func expect(_ function: String, _ status: OSStatus) throws {
    guard status == errSecSuccess else { throw UnexpectedStatus(function: function, status: status) }
  }

  /// Prints a number.
  static func tell(_ name: String, _ number: Double) {
    print("\(name): \(number)")
  }
}

/// A service and an account.
private struct Query {
  let service: String
  let account: String

  /// Reads the queries of a file.
  static func read(_ path: String) throws -> [Query] {
    try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { line in
      let fields = line.split(separator: "\t")
      guard fields.count == 2 else { throw CocoaError(.fileReadCorruptFile) }
      return Query(service: String(fields[0]), account: String(fields[1]))
    }
  }
}
