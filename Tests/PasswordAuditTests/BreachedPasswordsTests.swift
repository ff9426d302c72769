import CommandSupport
import Encoding
import Foundation
import Glibc
import Secrets
import TestSupport
import Testing
@testable import PasswordAudit
@testable import Terminal

@Suite("Lists of breached passwords", .serialized)
struct BreachedPasswordsTests {
  /// The form of a list.
  enum Form: CaseIterable {
    case lines, crlf, plain, lowerCase, padded, withoutLastLineFeed, blankLastLine, ranges, rangesWithSuffix
  }

  private let folder = ScratchFolder()

  /// Returns the sorted digests of `password 0`, `password 1` and so on.
  private static func digests(_ count: Int) -> [(password: String, digest: String)] {
    (0..<count).map { number in
      let password = "password \(number)"
      return (password, Hexadecimal.text(SHA1.digest(of: Array(password.utf8))).uppercased())
    }.sorted { $0.1 < $1.1 }
  }

  private func write(_ text: String, _ name: String = "list") throws -> String {
    let path = folder.path + "/" + name
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  private func write(_ entries: [(digest: String, count: Int)], _ form: Form) throws -> String {
    func lines(_ end: String, _ line: (String, Int) -> String) -> String {
      entries.map { line($0.digest, $0.count) + end }.joined()
    }
    let usual = lines("\n") { "\($0):\($1)" }
    switch form {
    case .lines: return try write(usual)
    case .crlf: return try write(lines("\r\n") { "\($0):\($1)" })
    case .plain: return try write(lines("\n") { digest, _ in digest })
    case .lowerCase: return try write(usual.lowercased())
    case .padded: return try write(lines("\r\n") { "\($0):\($1)          " })
    case .withoutLastLineFeed: return try write(String(usual.dropLast()))
    case .blankLastLine: return try write(usual + "\r\n\r\n")
    case .ranges, .rangesWithSuffix:
      let suffix = form == .ranges ? "" : ".txt"
      let path = folder.path + "/ranges"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      for (prefix, some) in Dictionary(grouping: entries, by: { String($0.digest.prefix(5)) }) {
        _ = try write(
          some.map { "\($0.digest.dropFirst(5)):\($0.count)\r\n" }.joined(), "ranges/\(prefix)\(suffix)")
      }
      if unsafe access(path + "/00000" + suffix, F_OK) != 0 {
        _ = try write(String(repeating: "0", count: 35) + ":1", "ranges/00000\(suffix)")
      }
      return path
    }
  }

  private func breach(_ path: String, _ password: String) throws -> BreachedPasswords.Breach? {
    try BreachedPasswords(path: path).breach(of: SecretBytes(text: password))
  }

  @Test("every line is found, and only those", arguments: Form.allCases)
  func finds(_ form: Form) throws {
    let entries = Self.digests(300)
    let kept = entries.indices.filter { $0 % 3 != 1 }
    let path = try write(kept.map { (entries[$0].digest, $0 + 1) }, form)
    let list = try BreachedPasswords(path: path)
    for number in entries.indices {
      let password = entries[number].password
      if kept.contains(number) {
        let expected = BreachedPasswords.Breach(count: form == .plain ? nil : number + 1)
        #expect(try list.breach(of: SecretBytes(text: password)) == expected)
      } else if form != .ranges, form != .rangesWithSuffix {
        #expect(try list.breach(of: SecretBytes(text: password)) == nil)
      }
    }
  }

  @Test("a list of one line works")
  func oneLine() throws {
    let entry = Self.digests(1)[0]
    let path = try write([(entry.digest, 7)], .lines)
    #expect(try breach(path, entry.password) == BreachedPasswords.Breach(count: 7))
    #expect(try breach(path, "another") == nil)
    #expect(try breach(path, "third") == nil)
  }

  @Test("lines with only the first digits are found, and marked", arguments: [10, 16, 39], [true, false])
  func prefixes(digits: Int, hasCount: Bool) throws {
    let entries = Self.digests(60)
    let kept = entries.indices.filter { $0 % 3 != 1 }
    let path = try write(
      kept.map { "\(entries[$0].digest.prefix(digits))\(hasCount ? ":7" : "")\n" }.joined())
    let list = try BreachedPasswords(path: path)
    for number in entries.indices {
      let found = try list.breach(of: SecretBytes(text: entries[number].password))
      let expected = BreachedPasswords.Breach(count: hasCount ? 7 : nil, isPrefix: true)
      #expect(found == (kept.contains(number) ? expected : nil))
    }
  }

  @Test("an entry with the count 0 is padding, not a breach")
  func padding() throws {
    let entry = Self.digests(1)[0]
    #expect(try breach(try write([(entry.digest, 0)], .lines), entry.password) == nil)
  }

  @Test("a range that the folder lacks is an error, and so is an empty one")
  func incomplete() throws {
    let entry = Self.digests(1)[0]
    let path = try write([(entry.digest, 1)], .ranges)
    #expect(throws: BreachListError.incomplete(path: path)) { try breach(path, "another") }
    _ = try write("", "ranges/" + entry.digest.prefix(5))
    #expect(throws: BreachListError.empty(path: path)) { try breach(path, entry.password) }
    let empty = folder.path + "/empty"
    try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: false)
    #expect(throws: BreachListError.incomplete(path: empty)) { try BreachedPasswords(path: empty) }
  }

  @Test("a file that is no list is an error before anything is searched")
  func refused() throws {
    let path = folder.path + "/list"
    let digest = String(repeating: "A", count: 40)
    let ntlm = String(repeating: "A", count: 32)
    let cases: [(String, BreachListError)] = [
      ("", .empty(path: path)), ("\r\n\r\n", .empty(path: path)), ("password\n", .badLine(path: path)),
      ("\(digest):\n", .badLine(path: path)), ("\(digest):1x\n", .badLine(path: path)),
      ("\(digest);1\n", .badLine(path: path)), ("\(digest)0:1\n", .badLine(path: path)),
      ("\(digest):1\n\n\(digest):1\n", .badLine(path: path)),
      ("\(digest.prefix(9)):1\n", .badLine(path: path)),
      ("\(digest):1\n\(digest.dropLast()):1\n", .badLine(path: path)),
      ("\u{FEFF}\(digest):1\n", .badLine(path: path)), ("\(ntlm):1\n", .isNTLM(path: path)),
      (String(repeating: "A", count: 1000), .badLine(path: path)),
      (String(repeating: "\(digest):1", count: 10), .badLine(path: path)),
    ]
    for (text, error) in cases {
      _ = try write(text)
      #expect(throws: error, "\(text.debugDescription)") { try BreachedPasswords(path: path) }
    }
    #expect(throws: UserFileError(action: "open", path: path + "x", errno: ENOENT)) {
      try BreachedPasswords(path: path + "x")
    }
    #expect(throws: BreachListError.notAFile(path: "/dev/null")) { try BreachedPasswords(path: "/dev/null") }
    #expect(unsafe mkfifo(path + ".pipe", 0o600) == 0)
    #expect(throws: BreachListError.notAFile(path: path + ".pipe")) {
      try BreachedPasswords(path: path + ".pipe")
    }
  }

  @Test(
    "a list that is sorted by its counts is refused, whatever its size", arguments: [2, 10, 1000, 20_000])
  func notSorted(_ count: Int) throws {
    // The digests of consecutive passwords are in no order. Two of them are put into the wrong one.
    let entries = (0..<count).map { "password \($0)" }.map {
      Hexadecimal.text(SHA1.digest(of: Array($0.utf8)))
    }
    let lines = count == 2 ? Array(entries.sorted().reversed()) : entries
    let path = try write(lines.enumerated().map { "\($1):\(count - $0)\n" }.joined())
    #expect(throws: BreachListError.notSorted(path: path)) { try BreachedPasswords(path: path) }
  }

  @Test("a part that is out of order or damaged is found by a search that reaches it")
  func damagedInside() throws {
    let entries = Self.digests(20_000)
    // A line that is not checked when the list is opened.
    let wanted = 10_040
    let lines = entries.map { "\($0.digest):1\n" }
    let path = folder.path + "/list"
    for (damage, error) in [
      ("x" + lines[wanted + 1].dropFirst(), BreachListError.badLine(path: path)),
      (lines[9000], .notSorted(path: path)),
    ] {
      var damaged = lines
      damaged[wanted + 1] = damage
      damaged.remove(at: wanted)
      _ = try write(damaged.joined())
      let list = try BreachedPasswords(path: path)
      #expect(throws: error) { try list.breach(of: SecretBytes(text: entries[wanted].password)) }
    }
  }
}
