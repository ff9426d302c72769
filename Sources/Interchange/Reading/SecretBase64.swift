internal import Encoding
internal import KeyringModel
internal import Secrets

extension SecretSlice {
  /// Returns the decoded bytes of base64 text, in wiped memory. White space is skipped.
  ///
  /// - Returns: nil if it is not valid base64.
  func decodedBase64() -> SecretSlice? {
    var decoder = Decoder(capacity: count / 4 * 3 + 3)
    unsafe withBytes { text in
      for index in text.indices { decoder.take(unsafe text[index]) }
    }
    return decoder.finish()
  }

  // Decodes four digits at a time, so that at most three bytes are in memory that is not wiped.
  private struct Decoder: ~Copyable {
    private var content: SecretBytes
    private var digits: [UInt8] = []
    private var isSound = true
    private var isPadded = false

    init(capacity: Int) { content = SecretBytes(capacity: capacity) }

    mutating func take(_ byte: UInt8) {
      if byte <= 0x20 { return }
      // Only padding may follow padding.
      if isPadded, digits.isEmpty || byte != UInt8(ascii: "=") { isSound = false }
      if byte == UInt8(ascii: "=") { isPadded = true }
      digits.append(byte)
      guard digits.count == 4 else { return }
      let bytes = unsafe digits.withUnsafeBytes { unsafe Base64.decode($0, as: .standard) }
      for byte in bytes ?? [] { content.append(byte) }
      if bytes == nil { isSound = false }
      digits.removeAll(keepingCapacity: true)
    }

    mutating func finish() -> SecretSlice? {
      guard isSound, digits.isEmpty else { return nil }
      var taken = SecretBytes()
      swap(&taken, &content)
      return SecretSlice(taken)
    }
  }
}
