internal import KeyringModel
internal import Secrets

extension Console {
  /// Adds one JSON object, on a line of its own, to the data.
  ///
  /// In a pipe the line is canonical: the same content is the same bytes. On a terminal every character that
  /// `Escaping.terminal` would not show is written as `\uXXXX`, which is the same JSON to every reader.
  func write(_ members: [JSONMember]) {
    print(json: .object(members))
  }

  /// Adds one JSON value, on a line of its own, to the data; see `write(_:)` for its form.
  func print(json value: JSONValue) {
    write(shown(value.canonicalBytes))
    write("\n")
  }

  /// Adds the same object with a member for a secret: a string when the secret is UTF-8, else
  /// `{"base64":"..."}` as for attributes. The secret itself is not touched on a terminal either: it was
  /// asked for.
  func write(_ members: [JSONMember], secret: borrowing SecretBytes, named name: String = "secret") {
    // The parts before and after it, in canonical order: objects of their own, without their braces.
    func part(_ isPart: (JSONMember) -> Bool) -> ArraySlice<UInt8> {
      shown(JSONValue.object(members.filter(isPart)).canonicalBytes).dropFirst().dropLast()
    }
    let before = part { $0.name.utf8.lexicographicallyPrecedes(name.utf8) }
    let after = part { !$0.name.utf8.lexicographicallyPrecedes(name.utf8) }
    write(secret: SecretObject.line(name, before: before, secret: secret, after: after))
    // A terminal has got its line feed, as after every secret.
    if !outputIsTerminal { write("\n") }
  }

  private func shown(_ line: [UInt8]) -> [UInt8] { outputIsTerminal ? Self.harmless(line) : line }

  /// JSON text without characters that a terminal would act on or hide.
  private static func harmless(_ line: [UInt8]) -> [UInt8] {
    guard line.contains(where: { $0 >= 0x7F }) else { return line }
    var text: [UInt8] = []
    for scalar in String(decoding: line, as: UTF8.self).unicodeScalars {
      let character = String(scalar)
      if scalar.value < 0x7F || Escaping.terminal.show(character).utf8.elementsEqual(character.utf8) {
        text += character.utf8
        continue
      }
      for unit in character.utf16 {
        let digits = String(unit, radix: 16)
        text += ("\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits).utf8
      }
    }
    return text
  }
}
