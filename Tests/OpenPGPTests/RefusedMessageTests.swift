import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tests files that are not messages of an item, made by gpg itself.
@Suite(.serialized) struct RefusedMessageTests {
  private static let text = Array("do not show this".utf8)

  enum Kind: String, CaseIterable {
    case symmetric, symmetricAndPublic, signedOnly, literal, compressedLiteral, clearsigned, armored, keyBlock
    case concatenated, withTrailingLiteral, withoutIntegrity, recipientsOnly

    func make(in home: GnuPGHome) throws -> [UInt8] {
      let passphrase = ["--pinentry-mode", "loopback", "--passphrase", "x"]
      switch self {
      case .symmetric: return try home.run(passphrase + ["--symmetric"], input: text)
      case .symmetricAndPublic:
        return try home.encrypt(text, to: [.alice], options: passphrase + ["--symmetric"])
      case .signedOnly: return try home.run(["--sign"], input: text)
      case .literal: return try home.run(["--compress-algo", "none", "--store"], input: text)
      case .compressedLiteral: return try home.run(["--compress-algo", "zip", "--store"], input: text)
      case .clearsigned: return try home.run(["--clearsign"], input: text)
      case .armored: return try home.encrypt(text, to: [.alice], options: ["--armor"])
      case .keyBlock: return try home.run(["--export"])
      case .concatenated:
        return try home.encrypt(text, to: [.alice]) + home.encrypt(text, to: [.alice])
      case .withTrailingLiteral:
        return try home.encrypt(text, to: [.alice])
          + home.run(["--compress-algo", "none", "--store"], input: text)
      case .withoutIntegrity: return try home.encrypt(text, to: [.alice], options: ["--rfc2440"])
      case .recipientsOnly: return Array(try home.encrypt(text, to: [.alice]).prefix(96))
      }
    }

    var expected: MessageError {
      switch self {
      case .symmetric, .symmetricAndPublic: .passphrase
      // gpg writes compressed data without a length.
      case .signedOnly, .compressedLiteral: .malformed
      case .literal: .notEncrypted(tag: 11)
      case .clearsigned, .armored: .notBinary
      case .keyBlock: .notEncrypted(tag: 6)
      case .concatenated, .withTrailingLiteral: .trailingData
      case .withoutIntegrity: .noIntegrityProtection
      case .recipientsOnly: .truncated
      }
    }
  }

  @Test func `a message of a store is refused where one of another program is expected`() throws {
    let home = try GnuPGHome(secret: [.alice])
    let engine = Engine(
      locations: home.locations, keyringID: "test", keys: GnuPGKey.files([.alice]), interaction: .never,
      acceptsForeignMessages: true)
    let own = try Engine(home, people: [.alice]).sealed(Self.text, to: [.alice])
    #expect(throws: EngineError.messageOfAStore) { try engine.opened(own) }
    // Another program that gives the same name is taken for a store, and one with another name is not.
    for (name, isRefused) in [("readers-x", true), ("reader-x", false), ("", false)] {
      let message = try home.encrypt(Self.text, to: [.alice], options: ["--set-filename", name])
      if isRefused {
        #expect(throws: EngineError.messageOfAStore) { try engine.opened(message) }
      } else {
        #expect(try engine.opened(message) == Self.text)
      }
    }
  }

  @Test func `a file that is not an encrypted message is refused before any process is started`() throws {
    let home = try GnuPGHome(secret: [.alice])
    let engine = Engine(home, people: [.alice])
    for kind in Kind.allCases {
      let bytes = try kind.make(in: home)
      #expect(throws: EngineError.message(kind.expected), "\(kind)") { try engine.opened(bytes) }
    }
    #expect(engine.statistics == EngineStatistics())
  }

  @Test func `a file larger than any encrypted secret is refused before any process is started`() throws {
    let home = try GnuPGHome()
    let engine = Engine(home, people: [.alice])
    let bytes = [UInt8](repeating: 0x85, count: (2 << 20) + 1)
    #expect(throws: EngineError.message(.tooLarge(limit: 2 << 20))) {
      try engine.opened(bytes, limit: 1 << 20)
    }
    #expect(engine.statistics == EngineStatistics())
  }

  @Test func `a decompression bomb is stopped at the limit`() throws {
    let home = try GnuPGHome(secret: [.alice])
    let engine = Engine(home, people: [.alice])
    let bomb = GnuPGKey.bomb
    #expect(throws: EngineError.tooLarge(limit: 1 << 20)) { try engine.opened(bomb, limit: 1 << 20) }
    #expect(engine.statistics.decryptions == 1)
  }

  @Test func `a plaintext at the limit is accepted, and one byte more is refused`() throws {
    let home = try GnuPGHome(secret: [.alice])
    let engine = Engine(home, people: [.alice])
    let sealed = try engine.sealed(Self.text, to: [.alice])
    #expect(try engine.opened(sealed, limit: Self.text.count) == Self.text)
    #expect(throws: EngineError.tooLarge(limit: Self.text.count - 1)) {
      try engine.opened(sealed, limit: Self.text.count - 1)
    }
  }
}
