package import Encoding
package import Secrets

/// An answer to the extension, as JSON in memory that is wiped, and the exit status of the process.
package struct BrowserAnswer: ~Copyable {
  /// The version of the protocol: 3.1.2. The extension uses `save`, `delete` and `tree` from 3.1.0 on.
  package static let version: Int64 = 3_001_002

  /// The JSON.
  package let message: SecretBytes
  /// 0, or the code of the error.
  package let status: Int32

  private init(_ message: consuming SecretBytes, status: Int32) {
    self.message = message
    self.status = status
  }

  /// Creates the answer with the data of an action.
  ///
  /// - Parameter data: The data, without any secret.
  package init(_ data: JSONValue) {
    var json = SecretBytes()
    unsafe data.canonicalBytes.withUnsafeBytes { unsafe json.append(contentsOf: $0) }
    self.init(data: json)
  }

  /// Creates the answer with the content of a login.
  ///
  /// - Parameter contents: The content, in UTF-8.
  package init(contents: borrowing SecretBytes) {
    var data = SecretBytes(capacity: contents.count * 2 + 64)
    data.append("{\"contents\":")
    unsafe contents.withBytes { unsafe data.append(jsonString: $0) }
    data.append("}")
    self.init(data: data)
  }

  private init(data: borrowing SecretBytes) {
    var message = SecretBytes(capacity: data.count + 64)
    message.append("{\"status\":\"ok\",\"version\":\(Self.version),\"data\":")
    message.append(data)
    message.append("}")
    self.init(message, status: 0)
  }

  /// Creates the answer to `echo`, which has no envelope.
  ///
  /// - Parameter value: The value as JSON; nil for `null`.
  /// - Throws: `requestUnreadable` if the value is larger than an answer may be.
  package init(echo value: SecretSlice?) throws(BrowserError) {
    guard let value else {
      var null = SecretBytes()
      null.append("null")
      self.init(null, status: 0)
      return
    }
    guard value.count <= NativeFrame.answerLimit else {
      throw BrowserError(.requestUnreadable, "the value is too large to be returned")
    }
    self.init(value.copy(), status: 0)
  }

  /// Creates the answer for an error.
  ///
  /// - Parameters:
  ///   - error: The error.
  ///   - action: The action as sent.
  package init(_ error: BrowserError, action: String) {
    var members = [
      JSONMember("message", .string(error.message)), JSONMember("error", .string(error.detail)),
    ]
    // A hostile request could otherwise make the answer larger than the limit.
    members.append(JSONMember("action", .string(String(action.prefix(64)))))
    members += error.parameters.map { JSONMember($0.name, .string(String($0.value.prefix(1024)))) }
    let object = JSONValue.object([
      JSONMember("status", .string("error")), JSONMember("code", .integer(Int64(error.code.rawValue))),
      JSONMember("version", .integer(Self.version)), JSONMember("params", .object(members)),
    ])
    var message = SecretBytes()
    unsafe object.canonicalBytes.withUnsafeBytes { unsafe message.append(contentsOf: $0) }
    self.init(message, status: error.code.rawValue)
  }
}
