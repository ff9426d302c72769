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
}
