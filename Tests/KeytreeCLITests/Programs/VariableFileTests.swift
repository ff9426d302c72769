import Testing

@testable import KeytreeCLI

@Suite("Files of variables", .serialized)
struct VariableFileTests {
  @Test(
    "simple lines of a variable file are read as in a shell",
    arguments: [
      ("A=b", ["A=b"]), ("\n# x\n  A = b\n", nil), ("export A=b\nB=", ["A=b", "B="]),
      ("A=b c # d", ["A=b c"]),
      ("A=b#c", ["A=b#c"]), ("A=' b # '\r\n", ["A= b # "]), (#"A="x\n\"\\\$\z" # y"#, ["A=x\n\"\\$\\z"]),
      ("A='x\\n'", ["A=x\\n"]), ("  A=b  ", ["A=b"]), ("A=#x", ["A="]), ("A=b\nA=c", ["A=b", "A=c"]),
      ("_a1=é", ["_a1=é"]), ("A==", ["A=="]), ("", []), ("A", nil), ("=b", nil), ("1A=b", nil),
      ("A-B=c", nil),
      ("A='b", nil), ("A=\"b\\\"", nil), ("A='b'c", nil), ("A=\u{0}", nil), ("É=b", nil), ("[=b", nil),
      ("@=b", nil), ("\u{FEFF}A=b\nB=c", ["A=b", "B=c"]), ("A=b\n\u{FEFF}B=c", nil), ("\u{FEFF}", []),
    ] as [(String, [String]?)])
  func lines(text: String, variables: [String]?) {
    let file = try? VariableFile(Array(text.utf8))
    #expect(file?.variables.map { "\($0.name)=\(String(decoding: $0.value, as: UTF8.self))" } == variables)
  }
}
