internal import DesktopKeyring
internal import SecretService
internal import Secrets
internal import SessionBus

extension FuzzTarget {
  /// The readers of D-Bus messages.
  static let busTargets = [
    FuzzTarget("bus-message", busMessage), FuzzTarget("bus-value", busValue),
    FuzzTarget("object-path", objectPath),
    FuzzTarget("session-secret", sessionSecret),
  ]

  @Sendable private static func busMessage(_ bytes: [UInt8]) {
    guard let values = MessagePeer.shared.values(of: bytes) else { return }
    for value in values { read(value) }
  }

  /// Reads a value of a message as every type of the service.
  private static func read(_ value: BusValue) {
    _ = parsed { try WireValues.paths(value) }
    _ = parsed { try WireValues.dictionary(value) }
    _ = parsed { try WireValues.sessionInput(value) }
    if let attributes = parsed({ try WireValues.attributes(value) }) {
      let again = parsed { try WireValues.attributes(WireValues.value(attributes)) }
      expect(again == attributes, "written attributes are the same")
    }
    if let secret = parsed({ try WireValues.secret(value) }) {
      expect(WireValues.value(secret) == value, "a written secret is the same")
    }
  }

  @Sendable private static func busValue(_ bytes: [UInt8]) {
    var reader = InputReader(bytes)
    while !reader.isAtEnd {
      let value = value(&reader, depth: 0)
      _ = value.typeSignature
      expect(value == value, "a value is equal to itself")
      read(value)
    }
  }

  private static func value(_ reader: inout InputReader, depth: Int) -> BusValue {
    let kind = reader.byte() % 12
    switch depth < 6 ? kind : kind % 6 {
    case 0: return .string(reader.text())
    case 1: return .objectPath(reader.text())
    case 2: return .bytes(SecretSlice(SecretBytes(copying: reader.string())))
    case 3: return .boolean(reader.byte() & 1 == 1)
    case 4: return .uint64(reader.number())
    case 5: return .byte(reader.byte())
    case 6: return .variant(value(&reader, depth: depth + 1))
    case 7: return .structure((0..<reader.byte() % 6).map { _ in value(&reader, depth: depth + 1) })
    case 8:
      return .array(element: "o", (0..<reader.byte() % 6).map { _ in value(&reader, depth: depth + 1) })
    case 9: return .strings((0..<reader.byte() % 6).map { _ in (reader.text(), reader.text()) })
    case 10:
      return .dictionary(
        (0..<reader.byte() % 6).map { _ in (reader.text(), value(&reader, depth: depth + 1)) })
    default:
      return .structure([
        .objectPath(reader.text()), .bytes(SecretSlice(SecretBytes(copying: reader.string()))),
        .bytes(SecretSlice(SecretBytes(copying: reader.string()))), .string(reader.text()),
      ])
    }
  }

  @Sendable private static func objectPath(_ bytes: [UInt8]) {
    let text = ObjectPath(String(decoding: bytes, as: UTF8.self))
    switch ServicePath(text) {
    case .collection(let collection): expect(ObjectPath(collection) == text, "a collection has one path")
    case .item(let item): expect(ObjectPath(item) == text, "an item has one path")
    default: break
    }
  }

  @Sendable private static func sessionSecret(_ bytes: [UInt8]) {
    var reader = InputReader(bytes)
    let key = SessionKey(SecretBytes(copying: [UInt8](repeating: 7, count: SessionKey.blockSize)))
    let vector = reader.bytes(SessionKey.blockSize)
    let message = reader.remainder()
    let copy = SecretBytes(copying: message)
    if let secret = parsed({ try key.decrypt(copy, vector: vector) }) {
      expect(
        parsed { try key.encrypt(secret, vector: vector).array } == message, "a secret has one ciphertext")
    }
    guard vector.count == SessionKey.blockSize else { return }
    let again = parsed { try key.decrypt(key.encrypt(copy, vector: vector), vector: vector).array }
    expect(again == message, "an encrypted secret can be decrypted")
  }
}
