package import Encoding
package import Secrets

/// A writer of JSON in wiped memory. Line feeds separate members and elements for readability.
package struct JSONWriter: ~Copyable {
  private var bytes = SecretBytes()
  private var isFirst = true

  /// Returns the written JSON, escaped for output without a change of its meaning, because the file may be displayed.
  package consuming func finish() -> SecretBytes {
    bytes.append("\n")
    return bytes.escapedJSON
  }

  /// Adds an object to an array, or as the whole document.
  package mutating func object(_ body: (inout JSONWriter) -> Void) {
    separate()
    nest("{", "}", body)
  }

  /// Adds a member that is an object.
  package mutating func object(_ name: String, _ body: (inout JSONWriter) -> Void) {
    key(name)
    nest("{", "}", body)
  }

  /// Adds a member that is an array.
  package mutating func array(_ name: String, _ body: (inout JSONWriter) -> Void) {
    key(name)
    nest("[", "]", body)
  }

  /// Adds a member.
  package mutating func member(_ name: String, _ value: SecretJSON) {
    key(name)
    value.write(to: &bytes)
  }

  /// Adds a member that is public text.
  package mutating func member(_ name: String, _ text: String) {
    key(name)
    bytes.append(jsonString: text)
  }

  /// Adds a member that is a secret: a string if it is UTF-8, else `{"base64":"..."}`.
  package mutating func member(_ name: String, secret: SecretSlice) {
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
