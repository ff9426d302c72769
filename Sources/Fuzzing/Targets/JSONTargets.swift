internal import CommandSupport
internal import Encoding
internal import Secrets

extension FuzzTarget {
  /// The readers of JSON.
  static let jsonTargets = [
    FuzzTarget("json", json), FuzzTarget("secret-json", secretJSON),
    FuzzTarget("configuration", configuration),
  ]

  @Sendable private static func json(_ bytes: [UInt8]) {
    let limits = JSONLimits(size: 1 << 20, depth: 64)
    skip(bytes, limits)
    guard let value = parsed({ () throws(JSONError) in try JSONValue(parsing: bytes, limits: limits) }) else {
      return
    }
    let canonical = value.canonicalBytes
    // A control character of one byte becomes an escape of six.
    expect(canonical.count <= 6 * bytes.count, "the canonical form is at most six times as long")
    guard
      let again = parsed({ () throws(JSONError) in
        try JSONValue(parsing: canonical, limits: JSONLimits(size: canonical.count, depth: 64))
      })
    else { return expect(false, "the canonical form can be read") }
    expect(again.canonicalBytes == canonical, "the canonical form is stable")
    let copy = SecretBytes(copying: bytes)
    expect(
      parsed { () throws(SecretJSONError) in try SecretJSON(copy) } != nil,
      "the reader for wiped memory accepts what the strict one accepts")
  }

  private static func skip(_ bytes: [UInt8], _ limits: JSONLimits) {
    let end = unsafe bytes.withUnsafeBytes { buffer -> Int? in
      parsed { () throws(JSONError) -> Int in
        var cursor = try unsafe JSONCursor(buffer, limits: limits)
        let range = try cursor.skipValue()
        try cursor.finish()
        return range.upperBound
      }
    }
    if let end { expect(end <= bytes.count, "a skipped value is within the text") }
    let isRead = parsed { () throws(JSONError) in try JSONValue(parsing: bytes, limits: limits) } != nil
    expect(end != nil || !isRead, "what can be read can be skipped")
  }

  @Sendable private static func secretJSON(_ bytes: [UInt8]) {
    let text = SecretBytes(copying: bytes)
    guard let value = parsed({ () throws(SecretJSONError) in try SecretJSON(text) }) else { return }
    _ = (value.isBlank, value.plainText?.count, value.members?.count, value["a"]?.integer)
    let written = value.json
    guard let again = parsed({ () throws(SecretJSONError) in try SecretJSON(written) }) else {
      return expect(false, "the written form can be read")
    }
    expect(again.json.isEqual(to: written), "the written form is stable")
  }

  @Sendable private static func configuration(_ bytes: [UInt8]) {
    typealias Problem = Configuration.Problem
    for isChecked in [false, true] {
      func read(_ bytes: [UInt8]) -> Configuration? {
        parsed { () throws(Problem) in try Configuration(parsing: bytes, isChecked: isChecked) }
      }
      guard let settings = read(bytes) else { continue }
      _ = settings.settings
      let written = settings.bytes
      let again = read(written)
      expect(again?.bytes == written, "written settings can be read and are the same")
    }
  }
}
