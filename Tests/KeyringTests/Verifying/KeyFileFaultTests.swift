import Keyring
import KeyringModel
import OpenPGP
import TestSupport
import Testing

/// Tests faulty key files. A list of bytes represents a file: each byte is the number of a key.
@Suite("Faults of key files", .serialized) struct KeyFileFaultTests {
  private static func key(_ number: UInt8) -> PublicKey {
    let fingerprint = EngineDouble.fingerprint(number)
    return PublicKey(fingerprint: fingerprint, userIDs: [], subkeys: [], hasSecret: false)
  }

  /// Returns the faults of the files of people 1 to N, and the number of listings. A 0 hides all keys after it.
  private static func faults(_ files: [[UInt8]]) throws -> (
    list: [(Fingerprint, KeyFileProblem)], listings: Int
  ) {
    var listings = 0
    let people = files.indices.map { EngineDouble.fingerprint(UInt8($0 + 1)) }
    let faults = try KeyFileProblems(of: zip(people, files).map { (person: $0, bytes: $1) }) { bytes in
      listings += 1
      return bytes.prefix { $0 != 0 }.filter { $0 != 10 }.map { key($0) }
    }
    return (faults.list.map { ($0.person, $0.fault) }, listings)
  }

  @Test func `files with one key each are listed twice per batch`() throws {
    // 10 is a line feed.
    let files: [[UInt8]] = (1...100).filter { $0 != 10 }.map { [$0] }
    let people = files.map { EngineDouble.fingerprint($0[0]) }
    var listings = 0
    let faults = try KeyFileProblems(of: zip(people, files).map { (person: $0, bytes: $1) }) { bytes in
      listings += 1
      return bytes.filter { $0 != 10 }.map { Self.key($0) }
    }
    #expect(faults.list.isEmpty && listings == 4)
  }

  /// The files of people 1 to 3, and their faults.
  static let cases: [([[UInt8]], [(UInt8, KeyFileProblem)])] = [
    ([[1], [2], [3]], []),
    ([[1], [], [3]], [(2, .empty)]),
    ([[1], [0], [3]], [(2, .empty)]),
    ([[1, 7], [2], [3]], [(1, .others([EngineDouble.fingerprint(7)]))]),
    (
      [[2], [1], [3]],
      [(1, .others([EngineDouble.fingerprint(2)])), (2, .others([EngineDouble.fingerprint(1)]))]
    ),
    // All keys are present and in order, but not each in its own file.
    ([[1, 2], [], [3]], [(1, .others([EngineDouble.fingerprint(2)])), (2, .empty)]),
    ([[], [1, 2], [3]], [(1, .empty), (2, .others([EngineDouble.fingerprint(1)]))]),
    ([[1], [1, 2], [3]], [(2, .others([EngineDouble.fingerprint(1)]))]),
  ]

  @Test(arguments: cases.indices)
  func `a fault is reported for the file that has it`(number: Int) throws {
    let (files, expected) = Self.cases[number]
    let found = try Self.faults(files).list
    #expect(found.map(\.0) == expected.map { EngineDouble.fingerprint($0.0) })
    #expect(found.map(\.1) == expected.map(\.1))
  }

  @Test func `the number of listings is limited, whatever the number of faulty files`() throws {
    let (list, listings) = try Self.faults([[UInt8]](repeating: [0], count: 200))
    #expect(list.count == 200 && list.count { $0.1 == .empty } == 64 && list.last?.1 == .notListed)
    // Each of four batches as a whole, and 64 single files.
    #expect(listings == 68)
  }
}
