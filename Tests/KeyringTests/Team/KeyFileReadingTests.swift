import Foundation
import KeyringModel
import OpenPGP
import TestSupport
import Testing

/// Tests files that users provide as another person's public key.
@Suite(.serialized) struct KeyFileReadingTests {
  private let home: GnuPGHome

  init() throws { home = try GnuPGHome() }

  private func read(_ files: [UInt8]..., expecting person: GnuPGKey? = nil) throws(KeyFile.Problem) -> KeyFile
  {
    try KeyFile(reading: files, expecting: person?.fingerprint, locations: home.locations)
  }

  @Test func `a public key is read and reduced, armored or not`() throws {
    let file = try read(GnuPGKey.alice.publicKey)
    #expect(file.key.fingerprint == GnuPGKey.alice.fingerprint)
    #expect(file.key.userIDs == ["Alice Example <\(GnuPGKey.alice.mail)>"])
    let binary = try home.run(["--dearmor"], input: GnuPGKey.alice.publicKey)
    #expect(try read(binary).key == file.key)
    // Nothing of it is left in the home.
    #expect(try home.run(["--list-keys"]).isEmpty)
  }

  @Test(arguments: [" ", "\t", "  \t ", " \r"])
  func `a key that was copied from a page with blanks in its lines is read`(blanks: String) throws {
    let lines = String(decoding: GnuPGKey.alice.publicKey, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    let trailing = lines.map { $0.isEmpty ? "" : $0 + blanks }.joined(separator: "\n")
    let leading = lines.map { $0.hasPrefix("-") || $0.isEmpty ? $0 : blanks.dropLast() + $0 }
    let whole = try read(GnuPGKey.alice.publicKey).key
    #expect(try read(Array(trailing.utf8)).key == whole)
    #expect(try read(Array(leading.joined(separator: "\n").utf8)).key == whole)
  }

  @Test func `anything else is refused with the reason`() throws {
    let both = GnuPGKey.alice.publicKey + GnuPGKey.bob.publicKey
    let people = [GnuPGKey.alice.fingerprint, GnuPGKey.bob.fingerprint].sorted()
    #expect(throws: KeyFile.Problem.several(people)) { try read(both) }
    #expect(throws: KeyFile.Problem.secret) { try read(GnuPGKey.alice.secretKey) }
    let binary = try home.run(["--dearmor"], input: GnuPGKey.alice.secretKey)
    #expect(throws: KeyFile.Problem.secret) { try read(binary) }
    #expect(throws: KeyFile.Problem.empty) { try read(Array("--file\n/etc/passwd\n".utf8)) }
    #expect(throws: KeyFile.Problem.empty) { try read([]) }
    #expect(throws: KeyFile.Problem.other(GnuPGKey.bob.fingerprint)) {
      try read(GnuPGKey.bob.publicKey, expecting: .alice)
    }
  }

  @Test func `a large file that gpg stops reading early is refused, and does not block`() throws {
    // The pipe to gpg holds less than the file, and libgpgme 1.18 would wait for ever for room in it.
    var generator = SystemRandomNumberGenerator()
    let noise = (0..<150_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
    let file =
      "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n"
      + Data(noise).base64EncodedString(options: .lineLength64Characters)
      + "\n-----END PGP PUBLIC KEY BLOCK-----\n"
    #expect(throws: KeyFile.Problem.empty) { try read(Array(file.utf8)) }
  }
}
