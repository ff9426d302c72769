package import Encoding
package import Secrets

extension Console {
  /// Adds one JSON object to the data, on a separate line.
  package func write(_ members: [JSONMember]) {
    print(json: .object(members))
  }

  /// Adds one JSON value to the data, on a separate line.
  ///
  /// The form is the canonical one of the store, except that unsafe characters are written as `\uXXXX`. The same
  /// content always has the same bytes, on a terminal and in a pipe.
  package func print(json value: JSONValue) {
    print(json: value.canonicalBytes)
  }

  /// Adds a line of JSON to the data, escaped for output.
  package func print(json line: [UInt8]) {
    if line.allSatisfy({ $0 < 0x7F }) {
      write(line)
    } else {
      var escaped: [UInt8] = []
      unsafe line.withUnsafeBytes { unsafe SecretText.escape(json: $0) { escaped.append($0) } }
      write(escaped)
    }
    write("\n")
  }

  /// Writes a line of JSON that contains a secret, escaped for output.
  package func print(json line: borrowing SecretBytes) {
    writeExactly(line.escapedJSON)
    write("\n")
  }

  /// Adds a JSON object with a further member for a secret: a string if the secret is UTF-8, else `{"base64":"..."}` as
  /// for attributes.
  package func write(_ members: [JSONMember], secret: borrowing SecretBytes, named name: String = "secret") {
    // The members before and after the secret, in canonical order: each part is an object without its braces.
    func part(_ isPart: (JSONMember) -> Bool) -> ArraySlice<UInt8> {
      JSONValue.object(members.filter(isPart)).canonicalBytes.dropFirst().dropLast()
    }
    let before = part { $0.name.utf8.lexicographicallyPrecedes(name.utf8) }
    let after = part { !$0.name.utf8.lexicographicallyPrecedes(name.utf8) }
    print(json: SecretObject.line(name, before: before, secret: secret, after: after))
  }
}
