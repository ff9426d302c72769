internal import Arguments
internal import CommandSupport
internal import Credentials
internal import Encoding
internal import KeyringModel
internal import KeytreeCLI
internal import Secrets

extension FuzzTarget {
  /// The readers of names, times and other short texts, and of templates with references.
  static let nameTargets = [
    FuzzTarget("item-name", itemName), FuzzTarget("item-url", itemURL), FuzzTarget("text", text),
    FuzzTarget("template", template),
  ]

  @Sendable private static func itemName(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    if let path = ItemPath(validating: text) {
      expect(path.text.utf8.elementsEqual(bytes), "a path has one spelling")
      expect(path.login.field == nil, "the login of a field is not a field")
    }
    if let reference = ItemReference(text) {
      expect(reference.text.utf8.elementsEqual(bytes), "a reference has one spelling")
    }
    _ = ItemName.problem(ofNew: bytes[...])
    guard case .named(let readings)? = parsed({ () throws(ItemName.Problem) in try ItemName(Word(bytes)) })
    else {
      return
    }
    expect(!readings.isEmpty, "a name has a reading")
    expect(readings.count <= 3 * ItemNameReading.splitLimit, "the number of readings is limited")
  }

  @Sendable private static func itemURL(_ bytes: [UInt8]) {
    let shown = Endpoint.publicURL(bytes)
    expect(Endpoint.publicURL(shown) == shown, "a public URL has no further part that may be secret")
    if let endpoint = Endpoint(url: bytes, scheme: "https") { check(endpoint.host) }
    if let host = HostName(authority: bytes) { check(host) }
    if let host = HostName(lookingLike: bytes) { check(host) }
    expect(!HostSpelling(bytes).searchTexts.isEmpty, "a host can be searched for")
  }

  private static func check(_ name: HostName) {
    expect(!name.host.isEmpty, "a host has a name")
    expect(HostName.normalized(name.host) == name.host, "a host has the form in which hosts are compared")
    if let port = name.port { expect((1...65535).contains(port), "a port exists") }
  }

  @Sendable private static func text(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    if let time = Timestamp(rfc3339: text) {
      expect(Timestamp(rfc3339: time.rfc3339) == time, "a written time can be read")
    }
    let now = Timestamp(microseconds: 1_800_000_000_000_000)
    if let time = Timestamp(past: text, now: now) {
      expect(Timestamp(rfc3339: time.rfc3339) == time, "a written time of the past can be read")
    }
    expect(
      PercentEscapes.decode(PercentEscapes.encode(text).utf8).map { $0.elementsEqual(text.utf8) } == true,
      "escapes can be undone")
    for form in [Base64.Form.standard, .url] {
      let decoded = unsafe bytes.withUnsafeBytes { unsafe Base64.decode($0, as: form) }
      if let decoded { expect(Base64.encode(decoded, as: form) == bytes, "base64 has one form") }
      let encoded = Base64.encode(bytes, as: form)
      let again = unsafe encoded.withUnsafeBytes { unsafe Base64.decode($0, as: form) }
      expect(again == bytes, "base64 can be undone")
    }
    base32(bytes)
    if let fingerprint = Fingerprint(text) {
      expect(fingerprint.text == text, "a fingerprint has one spelling")
    }
    if let digest = ContentDigest(base64url: text) {
      expect(digest.base64url == text, "a digest has one spelling")
    }
    if let id = ItemID(hex: text) { expect(id.hex == text, "an id has one spelling") }
    _ = (
      FieldName.isValid(text), GroupName.isValid(text), AllowedName.isValid(text),
      AllowedName.isSafePath(text)
    )
  }

  private static func base32(_ bytes: [UInt8]) {
    _ = unsafe bytes.withUnsafeBytes { buffer in
      parsed { () throws(Base32Error) in try unsafe Base32.decode(buffer).count }
    }
    var encoded = SecretBytes()
    unsafe bytes.withUnsafeBytes { unsafe Base32.append($0, to: &encoded) }
    let again = unsafe encoded.withBytes { buffer in
      parsed { () throws(Base32Error) in try unsafe Base32.decode(buffer).array }
    }
    expect(again == bytes, "base32 can be undone")
  }

  @Sendable private static func template(_ bytes: [UInt8]) {
    typealias Problem = SecretTemplate.Problem
    guard let template = parsed({ () throws(Problem) in try SecretTemplate(bytes) }) else { return }
    let again = parsed { () throws(Problem) in try SecretTemplate(bytes).references }
    expect(again == template.references, "a template always has the same references")
    expect(template.references.count * 20 <= bytes.count, "a reference has its text")
  }
}
