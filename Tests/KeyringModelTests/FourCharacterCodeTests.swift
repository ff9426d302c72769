import KeyringModel
import Testing

@Suite(.serialized) struct FourCharacterCodeTests {
  @Test(arguments: [
    ("htps", "https", AttributeName.protocol), ("smb ", "smb", .protocol), ("pops", "pop3s", .protocol),
    ("dflt", "default", .authenticationType), ("http", "http-basic", .authenticationType),
    ("http", "http", .protocol), ("abcd", "abcd", .protocol), ("htps", "htps", .authenticationType),
    ("dflt", "dflt", .account),
  ])
  func `a code has a word where the store has one, and is unchanged elsewhere`(
    code: String, word: String, name: AttributeName
  ) {
    #expect(FourCharacterCode.word(for: code, of: name) == word)
    #expect(FourCharacterCode.code(for: word, of: name) == code)
  }
}
