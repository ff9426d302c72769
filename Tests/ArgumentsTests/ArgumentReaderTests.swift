import Arguments
import Testing

@Suite("The argument reader", .serialized)
struct ArgumentReaderTests {
  /// Reads all words and returns the events as text. `-o` and `--out` take a value; `-n` and `--clip` take an optional
  /// attached value.
  private func read(_ words: [Word]) -> [String] {
    var reader = ArgumentReader(words)
    var events: [String] = []
    do {
      while let token = try reader.next() {
        switch token {
        case .operand(let word):
          events.append("operand " + word.approximateText)
        case .short(let letter):
          events.append("-" + String(letter))
          if letter == "o" { events.append("value " + (try reader.value()).approximateText) }
          if letter == "n", let value = reader.optionalValue() {
            events.append("optional " + value.approximateText)
          }
        case .long(let name):
          events.append("--" + name)
          if name == "out" { events.append("value " + (try reader.value()).approximateText) }
          if name == "clip", let value = reader.optionalValue() {
            events.append("optional " + value.approximateText)
          }
        }
      }
    } catch {
      switch error {
      case .missingValue(let option): events.append("missing \(option)")
      case .unexpectedValue(let option): events.append("unexpected \(option)")
      }
    }
    return events
  }

  @Test(
    "every form of an option is understood",
    arguments: [
      (["-a", "-b"], ["-a", "-b"]),
      (["-abc"], ["-a", "-b", "-c"]),
      (["-aofile"], ["-a", "-o", "value file"]),
      (["-o", "file"], ["-o", "value file"]),
      (["-o=file"], ["-o", "value file"]),
      (["-o", "=file"], ["-o", "value =file"]),
      (["-o", "-x"], ["-o", "value -x"]),
      (["-o", "--"], ["-o", "value --"]),
      (["-o"], ["-o", "missing -o"]),
      (["--out", "file"], ["--out", "value file"]),
      (["--out=file"], ["--out", "value file"]),
      (["--out="], ["--out", "value "]),
      (["--out=a=b"], ["--out", "value a=b"]),
      (["--out"], ["--out", "missing --out"]),
      (["--clip", "45"], ["--clip", "operand 45"]),
      (["--clip=45"], ["--clip", "optional 45"]),
      (["-n", "45"], ["-n", "operand 45"]),
      (["-n45"], ["-n", "optional 45"]),
      (["--json=yes"], ["--json", "unexpected --json"]),
      (["-a=yes"], ["-a", "unexpected -a"]),
      (["-"], ["operand -"]),
      (["--", "-a", "--out", "--"], ["operand -a", "operand --out", "operand --"]),
      (["x", "-a", "y"], ["operand x", "-a", "operand y"]),
      ([""], ["operand "]),
      (["-é"], ["-é"]),
      (["-aé-"], ["-a", "-é", "--"]),
      ([], []),
    ] as [([String], [String])])
  func forms(words: [String], events: [String]) {
    #expect(read(words.map { Word($0) }) == events)
  }

  @Test("bytes that are not UTF-8 are kept unchanged")
  func bytes() throws {
    let operand = Word([0x61, 0xFF, 0x2F])
    var reader = ArgumentReader([operand, Word(Array("--out=".utf8) + [0xFE]), Word([0x2D, 0xFF, 0x62])])
    #expect(try reader.next() == .operand(operand))
    #expect(try reader.next() == .long("out"))
    #expect(try reader.value() == Word([0xFE]))
    #expect(try reader.next() == .short("\u{FFFD}"))
    #expect(try reader.next() == .short("b"))
    #expect(operand.text == nil)
    #expect(operand.approximateText == "a\u{FFFD}/")
  }
}
