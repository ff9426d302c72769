import Encoding
import KeyringModel
import Testing

/// Tests members of a line that this version does not know. They are compared by the bytes of their names.
@Suite("Unknown members", .serialized) struct UnknownMemberTests {
  private static func members(_ unknown: [JSONMember]) throws -> UnknownMembers {
    var record = try IndexLine.parse(
      Array(
        """
        {"class":"generic-password","created":"2026-11-20T18:32:09.000000Z","group":"default",\
        "id":"0123456789abcdef0123456789abcdef","modified":"2026-11-20T18:32:09.000000Z",\
        "revision":"0123456789abcdef0123456789abcdef","sealed":"47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU",\
        "secretModified":"2026-11-20T18:32:09.000000Z"}
        """.utf8))
    record.unknown = unknown
    return UnknownMembers(of: record)
  }

  private static let one = JSONValue.integer(1)

  /// Members of two records, and the names that differ.
  static let pairs: [([JSONMember], [JSONMember], [String])] = [
    ([], [], []),
    ([JSONMember("a", one)], [JSONMember("a", one)], []),
    ([JSONMember("b", one), JSONMember("a", one)], [JSONMember("a", one), JSONMember("b", one)], []),
    ([JSONMember("a", one)], [], ["a"]), ([], [JSONMember("a", one)], ["a"]),
    ([JSONMember("a", one), JSONMember("b", one)], [JSONMember("a", one), JSONMember("b", .null)], ["b"]),
    ([JSONMember("c", one), JSONMember("b", one)], [JSONMember("d", one)], ["b", "c", "d"]),
    // An accented letter, and a letter followed by an accent, are two names.
    ([JSONMember("\u{e9}", one)], [JSONMember("e\u{301}", one)], ["e\u{301}", "\u{e9}"]),
  ]

  @Test(arguments: pairs)
  func `differences are found by the bytes of the names`(
    left: [JSONMember], right: [JSONMember], names: [String]
  ) throws {
    let found = try Self.members(left).differences(from: Self.members(right))
    #expect(found.map { Array($0.utf8) } == names.map { Array($0.utf8) })
  }
}
