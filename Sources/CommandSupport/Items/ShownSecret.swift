package import KeyringModel
package import Secrets
internal import Terminal

extension CommandCall {
  /// Prints a secret byte for byte. If the output is a terminal and the secret is not text, asks first, because control
  /// characters can change the terminal's state.
  ///
  /// - Parameters:
  ///   - secret: the bytes.
  ///   - record: the item, for the question.
  ///   - endsLine: true to add a line feed unless the secret ends with one; false to add one on a terminal only, as for
  ///     a single secret.
  /// - Throws: `cancelled` if the answer is no; `other` if the question cannot be asked.
  package func show(_ secret: borrowing SecretBytes, of record: ItemRecord, endsLine: Bool = false) throws {
    try confirmUnlessText(secret, "the secret of \(name(of: record))")
    guard endsLine else { return console.write(secret: secret) }
    console.writeExactly(secret)
    if unsafe secret.withBytes({ unsafe $0.last }) != UInt8(ascii: "\n") { console.write("\n") }
  }

  /// Asks whether bytes are printed if the output is a terminal and they are not text.
  ///
  /// - Parameters:
  ///   - secret: the bytes.
  ///   - name: what they are, for the question, escaped: `the secret of ...`.
  /// - Throws: `cancelled` if the answer is no; `other` if the question cannot be asked.
  package func confirmUnlessText(_ secret: borrowing SecretBytes, _ name: String) throws {
    guard console.outputIsTerminal, !secret.isText else { return }
    guard console.canAsk else {
      throw CommandError.other(
        .cancelled, message: "\(name) is not text and was not printed on the terminal",
        hint: "`--out FILE` writes it to a file, and a pipe receives it unchanged")
    }
    let sentence = name.prefix(1).uppercased() + name.dropFirst()
    guard try console.confirm("\(sentence) is not text (\(secret.count) bytes). Print it on the terminal")
    else {
      throw TerminalError.cancelled(action: "\(name) was not printed")
    }
  }
}

extension SecretBytes {
  /// True if the bytes are UTF-8 without control characters other than tab, line feed and carriage return.
  fileprivate var isText: Bool {
    unsafe withBytes { bytes in
      var decoder = UTF8.ForwardParser()
      var rest = unsafe bytes.makeIterator()
      while true {
        switch unsafe decoder.parseScalar(from: &rest) {
        case .valid(let encoded):
          let scalar = UTF8.decode(encoded)
          let isControl = scalar.properties.generalCategory == .control
          if isControl, ![0x09, 0x0A, 0x0D].contains(scalar.value) { return false }
        case .error: return false
        case .emptyInput: return true
        }
      }
    }
  }
}
