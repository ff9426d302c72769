import Encoding
import Secrets
import TestSupport
import Testing

@testable import SecretService

@Suite(.serialized) struct SessionTests {
  private static func number(_ seed: String) -> [UInt8] {
    let digest = ContentDigest(of: Array(seed.utf8)).bytes
    return digest + digest + digest + digest
  }

  private let client = SessionTests.number("keytree client")
  private let server = SessionTests.number("keytree service 40")

  private static func hex(_ bytes: [UInt8]) -> String { Hexadecimal.text(bytes) }

  private static func hex(_ bytes: borrowing SecretBytes) -> String {
    unsafe bytes.withBytes { unsafe Hexadecimal.text(Array($0)) }
  }

  @Test func `the prime is that of RFC 2409`() {
    #expect(KeyExchange.primeBytes.count == 128)
    #expect(
      Self.hex(ContentDigest(of: KeyExchange.primeBytes).bytes)
        == "3f35a3f5f6c4376a744acad409bb22f8d897f949d2311d885adaa890981b67a0")
  }

  @Test func `the key exchange has known results`() throws {
    let x = SecretBytes(copying: client)
    let y = SecretBytes(copying: server)
    let clientNumber = try KeyExchange.publicNumber(of: x)
    let serverNumber = try KeyExchange.publicNumber(of: y)
    #expect(Self.hex(clientNumber).hasPrefix("14a29f8679e5a785"))
    #expect(
      Self.hex(ContentDigest(of: clientNumber).bytes)
        == "00175a6bc44f0679c87c4d18dab1c2afd2cabaccc6ff8f30d2e0670d6ba2f3b6")
    #expect(Self.hex(serverNumber).hasPrefix("91add1abcc5bac94"))
    #expect(
      Self.hex(ContentDigest(of: serverNumber).bytes)
        == "365b8727421ef37f6a925d822cdfeb02fef7896ca334331025a7f4928589583c")
    // The shared number starts with a zero byte, which must not be lost.
    let shared = try KeyExchange.sharedNumber(clientNumber, y)
    #expect(Self.hex(shared).hasPrefix("00e2ef3df8433296"))
    #expect(Self.hex(try KeyExchange.sharedKey(serverNumber, x)) == "a08d97414d063c40caf01f424ad37429")
    #expect(Self.hex(try KeyExchange.sharedKey(clientNumber, y)) == "a08d97414d063c40caf01f424ad37429")
    #expect(
      Self.hex(try KeyExchange.sharedKey([0, 0] + clientNumber, y)) == "a08d97414d063c40caf01f424ad37429")
  }

  @Test(arguments: [
    ("", "453e1ac41f01837c59cc03566c608262"), ("open sesame", "225acfc80903700fe79a65a8a1575d66"),
  ])
  func `the cipher has known results`(text: String, cipher: String) throws {
    let key = SessionKey(
      try KeyExchange.sharedKey(
        try KeyExchange.publicNumber(of: SecretBytes(copying: client)), SecretBytes(copying: server)))
    let vector = [UInt8](0..<16)
    let message = try key.encrypt(SecretBytes(text: text), vector: vector)
    #expect(Self.hex(message) == cipher)
    let plain = try key.decrypt(message, vector: vector)
    #expect(plain.text() == text)
  }

  @Test func `numbers that no peer computes are refused`() throws {
    let prime = KeyExchange.primeBytes
    let order = Array(prime.dropLast()) + [0xFE]
    let y = SecretBytes(copying: server)
    for number in [[], [0], [1], [0, 1], order, prime, [1] + prime, [UInt8](repeating: 0xFF, count: 128)] {
      #expect(throws: KeyExchange.InvalidNumber.self) { _ = try KeyExchange.sharedKey(number, y) }
    }
    _ = try KeyExchange.sharedKey([2], y)
    _ = try KeyExchange.sharedKey(Array(prime.dropLast()) + [0xFD], y)
  }

  @Test func `a message with wrong padding is refused like one of a wrong size`() throws {
    let key = SessionKey(SecretBytes(copying: [UInt8](repeating: 7, count: 16)))
    let vector = [UInt8](repeating: 9, count: 16)
    let good = try key.encrypt(SecretBytes(text: "0123456789abcdef"), vector: vector)
    #expect(good.count == 32)
    for size in [0, 1, 15, 17, 31] {
      #expect(throws: SessionKey.InvalidMessage.self) {
        _ = try key.decrypt(good.copy(0..<size), vector: vector)
      }
    }
    // The first block alone ends with text instead of padding.
    #expect(throws: SessionKey.InvalidMessage.self) { _ = try key.decrypt(good.copy(0..<16), vector: vector) }
    #expect(throws: SessionKey.InvalidMessage.self) {
      _ = try key.decrypt(good, vector: Array(vector.dropLast()))
    }
  }

  @Test func `the two ends of an encrypted session understand each other`() throws {
    let world = try ServiceWorld()
    let x = KeyExchange.newPrivateNumber()
    let mine = Array(try KeyExchange.publicNumber(of: x).drop { $0 == 0 })
    let (output, session) = try world.service.openSession(
      "dh-ietf1024-sha256-aes128-cbc-pkcs7", .bytes(mine), for: world.sender)
    guard case .bytes(let theirs) = output else {
      Issue.record("no number")
      return
    }
    #expect(theirs.count == 128)
    let key = SessionKey(try KeyExchange.sharedKey(theirs, x))
    let vector = [UInt8](repeating: 3, count: 16)
    let sent = WireSecret(
      session: session, parameters: vector,
      value: SecretSlice(try key.encrypt(SecretBytes(text: "hunter2"), vector: vector)),
      contentType: "text/plain")
    let path = try world.value(
      world.service.createItem(
        NewItemProperties(), sent, replace: false, in: .group("default"), for: world.sender))
    #expect(try world.text(of: path) == "hunter2")
    let item = try world.item(path)
    var vectors: Set<[UInt8]> = []
    for _ in 0..<2 {
      let received = try world.value(world.service.secret(of: item, session: session, for: world.sender))
      let plain = try key.decrypt(received.value.copy(), vector: received.parameters)
      #expect(plain.text() == "hunter2")
      vectors.insert(received.parameters)
    }
    #expect(vectors.count == 2)
    let damaged = WireSecret(
      session: session, parameters: vector, value: SecretSlice(SecretBytes(text: "not a whole block")),
      contentType: "text/plain")
    expect(.invalidArguments) { try world.service.setSecret(damaged, of: item, for: world.sender) }
  }

  @Test func `an unknown algorithm and an input of the wrong type are told apart`() throws {
    let service = try ServiceWorld().service
    let sender = Sender(":1.1")
    expect(.notSupported) { try service.openSession("", .text, for: sender) }
    expect(.notSupported) { try service.openSession("rot13", .text, for: sender) }
    expect(.invalidArguments) { try service.openSession("plain", .bytes([]), for: sender) }
    expect(.invalidArguments) { try service.openSession("plain", .other, for: sender) }
    for input in [SessionInput.text, .other, .bytes([]), .bytes([1])] {
      expect(.invalidArguments) {
        try service.openSession("dh-ietf1024-sha256-aes128-cbc-pkcs7", input, for: sender)
      }
    }
  }

  @Test func `a session belongs to its sender and ends with it`() throws {
    let world = try ServiceWorld()
    let (service, session) = (world.service, world.session)
    let path = try world.add(["a": "b"])
    let item = try world.item(path)
    expect(.noSession) { try service.secret(of: item, session: session, for: world.stranger) }
    expect(.noSession) { try service.object(at: session, for: world.stranger) }
    expect(.noSession) { try service.secret(of: item, session: .none, for: world.sender) }
    guard case .session(let id) = try service.object(at: session, for: world.sender) else {
      Issue.record("not a session")
      return
    }
    service.close(id, for: world.sender)
    expect(.noSession) { try service.secret(of: item, session: session, for: world.sender) }
    expect(.noSuchObject) { try service.object(at: session, for: world.sender) }
    let second = try service.openSession("plain", .text, for: world.sender).session
    service.senderVanished(world.sender)
    expect(.noSession) { try service.secret(of: item, session: second, for: world.sender) }
  }

  @Test func `a sender has at most 64 sessions, and 1024 senders are tracked`() throws {
    let service = try ServiceWorld().service
    let sender = Sender(":1.1")
    for _ in 0..<64 { _ = try service.openSession("plain", .text, for: sender) }
    expect(.limitsExceeded) { try service.openSession("plain", .text, for: sender) }
    // The world has a sender of its own.
    for number in 2..<1024 { _ = try service.openSession("plain", .text, for: Sender(":1.\(number)x")) }
    expect(.limitsExceeded) { try service.openSession("plain", .text, for: Sender(":2.1")) }
    service.senderVanished(sender)
    _ = try service.openSession("plain", .text, for: Sender(":2.1"))
  }
}
