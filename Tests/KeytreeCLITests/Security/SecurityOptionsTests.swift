import Arguments
import Secrets
import Synchronization
import Testing
@testable import KeytreeCLI
@testable import Personalities

@Suite("The letters of security", .serialized)
struct SecurityOptionsTests {
  private func read(_ words: [String], _ pattern: String) -> String? {
    guard
      let options = try? SecurityOptions(
        SecurityWords(arguments: words.map { Word($0) }), pattern, secrets: "")
    else { return nil }
    var parts: [String] = []
    for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".unicodeScalars {
      guard options.has(letter) else { continue }
      let value = options.bytes(letter).map { "=" + String(decoding: $0, as: UTF8.self) }
      parts.append("\(letter)\(value ?? "")")
    }
    if let lacking = options.lackingValue { parts.append("lacks \(lacking)") }
    let operands = options.operands.map { String(decoding: $0.publicBytes(), as: UTF8.self) }
    return parts.joined(separator: " ") + "|" + operands.joined(separator: ",")
  }

  @Test(
    "options are parsed as by the getopt of BSD",
    arguments: [
      (["-s", "x", "-w"], "s=x w|"), (["-gs", "x"], "g s=x|"), (["-wsx"], "s=x w|"),
      (["-wl", "x", "-g"], "g l=x w|"),
      (["-s", "-w"], "s=-w|"), (["-s", "--", "x"], "s=--|x"), (["--", "-w"], "|-w"), (["x", "-w"], "|x,-w"),
      (["-", "-w"], "|-,-w"), (["-w", "k.keychain", "-g"], "w|k.keychain,-g"), (["-s", ""], "s=|"),
      (["-s", "1", "-s", "2"], "s=2|"), ([], "|"), ([""], "|"), (["-q"], nil), (["-wq"], nil), (["-s"], nil),
      (["-ws"], nil), (["-:"], nil), (["--server"], nil),
    ] as [([String], String?)])
  func letters(words: [String], expected: String?) {
    #expect(read(words, "hs:l:wg") == expected)
  }

  @Test(
    "a missing value at the end is passed to the command",
    arguments: [
      (["-a", "x", "-w"], "a=x lacks w|"), (["-w", "-a"], "w=-a|"), (["-Uw"], "U lacks w|"),
      (["-w", "1", "-w"], "w=1 lacks w|"), (["-a"], "lacks a|"), (["-q"], nil),
    ] as [([String], String?)])
  func lacking(words: [String], expected: String?) {
    #expect(read(words, ":a:w:U") == expected)
  }

  @Test("a secret argument is overwritten, and nothing else is")
  func hides() throws {
    let hidden = Mutex<[String]>([])
    let words = ["add", "-a", "me", "-wTOP", "-X", "00", "-w", "SECRET", "file"].map { Word($0) }
    let given = SecurityWords(arguments: words) { index, offset in
      hidden.withLock { $0.append("\(index):\(offset)") }
    }
    let options = try SecurityOptions(given.dropFirst(1), ":a:w:X:", secrets: "wX")
    #expect(hidden.withLock { $0 } == ["3:2", "5:0", "7:0"])
    #expect(options.hasShownSecret)
    #expect(options.operands.count == 1)
    let typed = SecurityWords(typed: [SecretSlice(SecretBytes(copying: "-wTOP".utf8))])
    #expect(try !SecurityOptions(typed, "w:", secrets: "w").hasShownSecret)
  }

  @Test(
    "an abbreviation means the first command of the original's table that begins with it",
    arguments: [
      ("add", "add-generic-password"), ("add-i", "add-internet-password"), ("find", "find-generic-password"),
      ("find-i", "find-internet-password"), ("find-id", "find-identity"), ("delete", "delete-keychain"),
      ("delete-g", "delete-generic-password"), ("d", "default-keychain"), ("dump-keychain", "dump-keychain"),
      ("l", "list-keychains"), ("lo", "login-keychain"), ("set-g", "set-generic-password-partition-list"),
      ("find-key", "find-key"), ("h", "help"), ("nope", nil), ("find-generic-passwords", nil), ("Find", nil),
    ] as [(String, String?)])
  func abbreviations(typed: String, command: String?) {
    #expect(SecurityCommands.named(Array(typed.utf8))?.name == command)
  }

  @Test("each command of the table can be found by its name, and its secret options take a value")
  func table() throws {
    for command in SecurityCommands.all {
      #expect(SecurityCommands.named(Array(command.name.utf8))?.name == command.name)
      for letter in command.secrets { #expect(command.letters.contains("\(letter):"), "\(command.name)") }
    }
  }
}
