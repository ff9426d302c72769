internal import Encoding
internal import Interchange
internal import KeyringModel
internal import OpenPGP

extension FuzzTarget {
  /// The readers of OpenPGP packets and key tables, and of DER.
  static let openPGPTargets = [
    FuzzTarget("packets", packets), FuzzTarget("armor", armor), FuzzTarget("key-table", keyTable),
    FuzzTarget("der", der),
  ]

  @Sendable private static func packets(_ bytes: [UInt8]) {
    _ = KeyFile.hasSecretKey(bytes)
    if let message = SignedMessage(bytes) {
      expect(message.content.count < bytes.count, "the content is shorter than the message")
    }
    let header = unsafe bytes.withUnsafeBytes { buffer in
      parsed { () throws(MessageError) in try unsafe MessageHeader.parse(buffer, limit: 1 << 20) }
    }
    guard let header else { return }
    expect(!header.recipients.isEmpty, "a message has a recipient")
    expect(header.recipients.count * 4 < bytes.count, "a recipient has a packet")
    var end = 0
    for range in header.content {
      expect(range.lowerBound > end, "the parts of the container are in order")
      end = range.upperBound
    }
    expect(end == bytes.count, "the container ends at the end of the message")
    expect(
      Set(header.recipients.map(\.text)).count == Set(header.recipients).count, "an id has one spelling")
    for recipient in header.recipients { expect(KeyID(recipient.text) == recipient, "an id can be read") }
  }

  @Sendable private static func armor(_ bytes: [UInt8]) {
    for label in [Armor.Label.message, .publicKey] {
      expect(Armor.binary(bytes, label).count <= bytes.count, "the binary form is not longer")
    }
    _ = KeyPackets.problem(of: bytes)
  }

  @Sendable private static func keyTable(_ bytes: [UInt8]) {
    guard let keys = KeyTableFile.decode(bytes) else { return }
    expect(KeyTableFile.encode(keys) == bytes, "a key table has one form")
  }

  @Sendable private static func der(_ bytes: [UInt8]) {
    guard DER.isWellFormed(bytes[...]) else { return }
    expect(encoded(bytes[...]) == bytes, "DER has one form")
    var reader = DERReader(bytes[...])
    while let magnitude = reader.nextUnsigned() {
      var single = DERReader(DER.encode(unsigned: magnitude)[...])
      expect(single.nextUnsigned().map { $0.elementsEqual(magnitude) } == true, "an integer has one form")
    }
  }

  private static func encoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var reader = DERReader(bytes)
    var result: [UInt8] = []
    while let element = reader.next() {
      let isConstructed = element.tag & DER.constructed != 0
      result += DER.encode(element.tag, isConstructed ? encoded(element.content) : Array(element.content))
    }
    return result
  }
}
