internal import Encoding
internal import Secrets

/// Writes JSON into wiped memory, one value to a line where a person looks for it.
package struct JSONWriter: ~Copyable {
  private var bytes = SecretBytes()
  private var isFirst = true

  /// Returns what was written, escaped for output: the file may be displayed, and reads the same.
  consuming func finish() -> SecretBytes {
    bytes.append("\n")
    return bytes.escapedJSON
  }

  /// Adds an object to an array, or as the whole document.
  mutating func object(_ body: (inout JSONWriter) -> Void) {
    separate()
    nest("{", "}", body)
  }

  /// Adds a member that is an object.
  mutating func object(_ name: String, _ body: (inout JSONWriter) -> Void) {
    key(name)
    nest("{", "}", body)
  }

  /// Adds a member that is an array.
  mutating func array(_ name: String, _ body: (inout JSONWriter) -> Void) {
    key(name)
    nest("[", "]", body)
  }

  /// Adds a member.
  mutating func member(_ name: String, _ value: SecretJSON) {
    key(name)
    value.write(to: &bytes)
  }

  /// Adds a member that is text and no secret.
  mutating func member(_ name: String, _ text: String) {
    key(name)
    bytes.append(jsonString: text)
  }

  /// Adds a member that is a secret: a string when it is UTF-8, else `{"base64":"..."}`.
  mutating func member(_ name: String, secret: SecretSlice) {
    key(name)
    let copy = secret.copy()
    bytes.append(exact: copy)
  }

  private mutating func key(_ name: String) {
    separate()
    bytes.append(jsonString: name)
    bytes.append(":")
  }

  private mutating func separate() {
    if !isFirst { bytes.append(",\n") }
    isFirst = false
  }

  private mutating func nest(_ open: String, _ close: String, _ body: (inout JSONWriter) -> Void) {
    bytes.append(open)
    isFirst = true
    body(&self)
    bytes.append(close)
    isFirst = false
  }
}
