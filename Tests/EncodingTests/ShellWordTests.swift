import Encoding
import Testing

@Suite("Words of a shell command")
struct ShellWordTests {
  @Test(
    "a text is one word",
    arguments: [
      ("a.b/c", "a.b/c"), ("", "''"), ("-a", "'-a'"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#),
      // A combining mark after the quotation mark.
      ("'\u{301};id", "''\\''\u{301};id'"), ("$(id)", "'$(id)'"),
    ])
  func quotes(text: String, word: String) {
    #expect(text.shellWord.utf8.elementsEqual(word.utf8))
  }
}
