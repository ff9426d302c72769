import Encoding
import Testing

@Suite("Searching and replacing text byte for byte")
struct TextSearchTests {
  @Test(
    "a text contains another one if it contains its bytes",
    arguments: [
      ("error: not a git repository", "not a git repository", true), ("ab", "ba", false), ("", "a", false),
      ("a", "", true), ("", "", true), ("a\r\nb", "\n", true), ("e\u{301}", "e", true),
      ("é", "e\u{301}", false),
    ])
  func contains(whole: String, part: String, isContained: Bool) {
    #expect(whole.contains(bytesOf: part) == isContained)
  }

  @Test(
    "all occurrences are replaced, and what replaces them is not searched",
    arguments: [
      (#"a\b\"#, #"\"#, #"\\"#, #"a\\b\\"#), ("aaa", "aa", "b", "ba"), ("abab", "ab", "", ""),
      ("abc", "x", "y", "abc"), ("abc", "", "y", "abc"), ("", "a", "y", ""), ("a\r\nb", "\n", "", "a\rb"),
    ])
  func replaces(whole: String, part: String, other: String, result: String) {
    #expect(whole.replacing(bytesOf: part, with: other).utf8.elementsEqual(result.utf8))
  }
}
