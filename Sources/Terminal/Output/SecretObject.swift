internal import Encoding
internal import Secrets

/// A JSON object that contains a secret, in memory that is wiped.
enum SecretObject {
  /// Returns an object with a member for a secret between other members, without a line feed.
  ///
  /// - Parameters:
  ///   - name: the name of the member; it needs no escapes.
  ///   - before: the members before it, as JSON with commas between them.
  ///   - secret: the value: a string if it is valid UTF-8, else `{"base64":"..."}`.
  ///   - after: the members after it.
  static func line(
    _ name: String = "secret", before: ArraySlice<UInt8>, secret: borrowing SecretBytes,
    after: ArraySlice<UInt8>
  ) -> SecretBytes {
    var line = SecretBytes(capacity: secret.count * 2 + before.count + after.count + 64)
    line.append("{")
    for byte in before { line.append(byte) }
    line.append((before.isEmpty ? "\"" : ",\"") + name + "\":")
    line.append(exact: secret)
    line.append(after.isEmpty ? "" : ",")
    for byte in after { line.append(byte) }
    line.append("}")
    return line
  }
}
