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
    if console.outputIsTerminal, !secret.isText { try confirmBinary(secret.count, record) }
    guard endsLine else { return console.write(secret: secret) }
    console.writeExactly(secret)
    if unsafe secret.withBytes({ unsafe $0.last }) != UInt8(ascii: "\n") { console.write("\n") }
  }

  private func confirmBinary(_ count: Int, _ record: ItemRecord) throws {
    let name = record.reference.text
    guard console.canAsk else {
      throw CommandError.other(
        .cancelled, message: "the secret of \(name) is not text and was not printed on the terminal",
        hint: "`--out FILE` writes it to a file, and a pipe receives it unchanged")
    }
    let question = "The secret of \(name) is not text (\(count) bytes). Print it on the terminal"
    guard try console.confirm(question) else {
      throw TerminalError.cancelled(action: "the secret was not printed")
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
