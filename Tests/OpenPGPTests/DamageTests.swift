import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tests that damaged messages never yield plaintext, and that the error names the right cause.
@Suite(.serialized) struct DamageTests {
  @Test func `a message truncated at any length is refused`() throws {
    let home = try GnuPGHome(secret: [.alice])
    let engine = Engine(home, people: [.alice])
    let sealed = try engine.sealed(to: [.alice])
    let before = engine.statistics.decryptions
    for length in 0..<sealed.count {
      #expect(throws: EngineError.self) { try engine.opened(Array(sealed.prefix(length))) }
    }
    // The header contains the length of the container, so none of these messages reaches gpg.
    #expect(engine.statistics.decryptions == before)
  }

  @Test func `a message with a truncated container and a matching length is corrupt`() throws {
    let home = try GnuPGHome(secret: [.alice])
    let engine = Engine(home, people: [.alice])
    let sealed = try engine.sealed(to: [.alice])
    for cut in stride(from: 1, to: 60, by: 13) {
      #expect(throws: EngineError.corrupt, "\(cut)") { try engine.opened(Self.shortened(sealed, by: cut)) }
    }
  }

  @Test func `a message with any changed byte is refused`() throws {
    let home = try GnuPGHome(secret: [.alice])
    let engine = Engine(home, people: [.alice])
    let sealed = try engine.sealed(to: [.alice])
    var decrypted = 0
    for place in sealed.indices {
      var changed = sealed
      changed[place] ^= 0x10
      // The header is parsed for every position. A process is started only for a sample of those that pass.
      guard (try? header(of: changed)) != nil, place % 5 == 0 else { continue }
      decrypted += 1
      do throws(EngineError) {
        let opened = try engine.opened(changed)
        Issue.record("byte \(place) was changed, and \(opened.count) bytes were returned")
      } catch {
        switch error {
        case .corrupt, .notARecipient: break
        default: Issue.record("byte \(place): \(error)")
        }
      }
    }
    #expect(decrypted > 20)
  }

  /// The first bytes of a content that is not data for gpg: encrypted data without and with integrity protection, session
  /// keys for a passphrase, and compressed data that cannot be decompressed.
  static let contents: [[UInt8]] = [
    [0xC9], [0xD2, 30, 1], [0xC3, 4, 4, 9, 0, 8, 0xD2, 30, 1], [0xC3, 13, 4, 9, 3, 8], [0xC8, 61, 1, 0xFF],
    [0xC8, 61, 2, 0xFF],
  ]

  @Test(arguments: contents)
  func `a message is damaged also if its changed content makes gpg end early or ask for a passphrase`(
    content: [UInt8]
  ) throws {
    let home = try GnuPGHome(secret: [.alice])
    let sealed = try Engine(home, people: [.alice]).sealed(to: [.alice])
    let changed = try Self.message(sealed, withContent: content)
    for interaction in [Interaction.never, .loopback { SecretBytes(copying: Array("x".utf8)) }] {
      let engine = Engine(home, people: [.alice], interaction: interaction)
      #expect(throws: EngineError.corrupt) { try engine.opened(changed) }
    }
  }

  // Returns the message with another beginning of its content, made without the key: gpg encrypts in CFB mode, and the
  // first block of the content is known.
  static func message(_ message: [UInt8], withContent bytes: [UInt8]) throws -> [UInt8] {
    let header = try header(of: message)
    let name = Array(RecipientName.of(header.recipients).utf8)
    let size = UInt8(name.count)
    // A literal packet (RFC 9580, 5.9) with the secret `hello`.
    let known = [0xCB, 2 + size + 4 + 5, UInt8(ascii: "b"), size] + name
    // The version of the container, 16 random bytes, and two of them again.
    let start = try #require(header.content.first).lowerBound + 1 + 18
    var changed = message
    for (index, byte) in bytes.enumerated() { changed[start + index] ^= known[index] ^ byte }
    return changed
  }

  @Test func `damage is distinguished from a missing key, even with several recipients`() throws {
    let home = try GnuPGHome(secret: [.alice])
    let engine = Engine(home, people: [.alice, .bob])
    var sealed = try engine.sealed(to: [.alice, .bob])
    sealed[sealed.count - 5] ^= 1
    // gpg itself reports a missing secret key here.
    #expect(throws: EngineError.corrupt) { try engine.opened(sealed) }
  }

  @Test func `the error for a message to other people names its recipients`() throws {
    let home = try GnuPGHome(secret: [.carol])
    let engine = Engine(home, people: [.alice, .bob, .carol])
    let sealed = try engine.sealed(to: [.alice, .bob])
    #expect(throws: EngineError.notARecipient(recipients: try header(of: sealed).recipients)) {
      try engine.opened(sealed)
    }
  }

  @Test func `two messages with exchanged session keys are corrupt`() throws {
    let home = try GnuPGHome(secret: [.alice])
    let engine = Engine(home, people: [.alice])
    let one = try engine.sealed(Array("one".utf8), to: [.alice])
    let other = try engine.sealed(Array("other".utf8), to: [.alice])
    let swapped = Self.recipients(one) + other.dropFirst(Self.recipients(other).count)
    #expect(throws: EngineError.corrupt) { try engine.opened(Array(swapped)) }
  }

  // Returns the recipients' packets of a message as gpg writes them: old format, lengths of one or two bytes.
  static func recipients(_ message: [UInt8]) -> [UInt8] {
    var end = 0
    while message[end] >> 2 & 0x0F == 1, message[end] & 0x40 == 0 {
      let isLong = message[end] & 3 == 1
      end += isLong ? 3 + Int(message[end + 1]) << 8 + Int(message[end + 2]) : 2 + Int(message[end + 1])
    }
    return Array(message.prefix(end))
  }

  // Returns the message with a shorter container and a matching length in its header.
  static func shortened(_ message: [UInt8], by cut: Int) throws -> [UInt8] {
    let start = recipients(message)
    let container = Array(message.dropFirst(start.count))
    let tag = try #require(container.first) & 0x3F
    let size: Int
    switch container[1] {
    case ..<192: size = 2
    case ..<224: size = 3
    default: size = 6
    }
    return start + Packets.new(tag, container.dropFirst(size).dropLast(cut))
  }
}

extension Packets {
  static func new(_ tag: UInt8, _ body: ArraySlice<UInt8>) -> [UInt8] { new(tag, Array(body)) }
}
