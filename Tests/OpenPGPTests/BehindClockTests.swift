import Encoding
import KeyringModel
import TestSupport
import Testing

@testable import OpenPGP

/// Tests keys that were created in the future, as on a machine whose clock is behind.
@Suite(.serialized, .waits) struct BehindClockTests {
  private static let future = GnuPGKey.future.fingerprint
  private static let problem = EngineError.unusableKey(
    future, .fromFuture(Timestamp(seconds: 4_102_444_800)))

  private func home() throws -> GnuPGHome {
    let home = try GnuPGHome()
    let options = ["--faked-system-time", "21000201T000000", "--pinentry-mode", "loopback"]
    try home.run(options + ["--import"], input: GnuPGKey.future.secretKey)
    return home
  }

  @Test func `a signature from the future is verified, and a message from the future is decrypted`() throws {
    let home = try home()
    let engine = Engine(home, people: [.alice, .future])
    let line = Array("{\"format\":1}".utf8)
    let options = [
      "--faked-system-time", "21000201T000000", "--compress-algo", "none", "--trust-model", "always",
    ]
    let message = try home.run(options + ["--sign"], input: line)
    for messages in [[message], [message, message]] {
      let facts = try engine.verifyMessages(messages)
      #expect(facts.allSatisfy { $0?.status == .good && $0?.primary == Self.future })
    }
    let signature = try home.run(options + ["--detach-sign"], input: line)
    #expect(try engine.verifyDetached(signature: signature, of: line).map(\.status) == [.good])
    let name = RecipientName.of([
      try #require(KeyID(String(GnuPGKey.future.encryptionSubkey.text.suffix(16))))
    ])
    let sealed = try home.run(
      options + ["--set-filename", name, "--recipient", Self.future.text, "--encrypt"], input: line)
    #expect(try engine.opened(sealed) == line)
  }

  @Test func `a key from the future blames the clock when it is used`() throws {
    let home = try home()
    let engine = Engine(home, people: [.alice, .future])
    #expect(throws: Self.problem) { try engine.checkRecipients([Recipient(Self.future)]) }
    #expect(throws: Self.problem) { try engine.sealed(to: [.alice, .future]) }
    #expect(throws: Self.problem) { try engine.signMessage([1], signer: Self.future) }
    #expect(throws: Self.problem) { try engine.signDetached([1], signer: Self.future) }
  }

  @Test func `a signature from before its key was created is not valid, although gpg accepts it`() throws {
    let home = try home()
    let engine = Engine(home, people: [.future])
    let line = Array("{\"format\":1}".utf8)
    let options = ["--ignore-time-conflict", "--ignore-valid-from", "--compress-algo", "none"]
    let message = try home.run(options + ["--sign"], input: line)
    #expect(try engine.verifyMessages([message]).map(\.?.status) == [.bad])
    #expect(try engine.verifyMessages([message, message]).map(\.?.status) == [.bad, .bad])
  }

  @Test func `a key file from the future is read`() throws {
    let home = try GnuPGHome()
    let file = try KeyFile(reading: [GnuPGKey.future.publicKey], locations: home.locations)
    #expect(file.key.fingerprint == Self.future)
    #expect(file.key.problem(for: .encrypt, at: .now()) == .fromFuture(Timestamp(seconds: 4_102_444_800)))
  }
}
