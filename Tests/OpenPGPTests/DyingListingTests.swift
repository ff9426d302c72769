import Foundation
import KeyringModel
import TestSupport
import Testing

@testable import OpenPGP

/// A gpg that ends while it lists or exports keys has not said that a key does not exist.
@Suite(.serialized) struct DyingListingTests {
  private let home: GnuPGHome

  init() throws { home = try GnuPGHome(secret: [.alice, .bob]) }

  /// Returns locations with a gpg that runs a command first if its arguments contain a word.
  private func locations(dyingAt word: String, _ death: String) throws -> EngineLocations {
    let tools = "\(home.folder)/tools"
    try FileManager.default.createDirectory(
      atPath: tools, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let script = """
      #!/bin/sh
      case " $* " in *' \(word) '*) \(death);; esac
      exec /usr/bin/gpg "$@"

      """
    try ExecutableFile.write(script, to: "\(tools)/gpg")
    try ExecutableFile.write("#!/bin/sh\nexec /usr/bin/gpgconf \"$@\"\n", to: "\(tools)/gpgconf")
    return EngineLocations(
      userHome: home.home, runtimeBase: "\(home.folder)/run", searchPath: "\(tools):/usr/bin:/bin")
  }

  private func engine(_ files: [Fingerprint: [UInt8]], _ locations: EngineLocations) -> Engine {
    Engine(locations: locations, keyringID: "dying", keys: files, interaction: .never)
  }

  private func expectIncomplete(
    _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    _ operation: () throws -> Void
  ) {
    #expect(comment, sourceLocation: sourceLocation) {
      try operation()
    } throws: { error in
      if case .incomplete = error as? EngineError { true } else { false }
    }
  }

  /// The ways in which gpg ends without having said anything.
  static let silentEnds = ["kill -KILL $$", "exit 0", "exit 2"]
  /// Only libgpgme uses this option.
  private static let library = "--exit-on-status-write-error"

  @Test(arguments: silentEnds)
  func `a key that a dying gpg did not export is not missing`(end: String) throws {
    let keyring = UserKeyring(locations: try locations(dyingAt: "--export", end))
    expectIncomplete { _ = try keyring.export(GnuPGKey.alice.fingerprint) }
    expectIncomplete { _ = try keyring.exportMinimal(GnuPGKey.alice.fingerprint) }
  }

  @Test(arguments: silentEnds)
  func `a key of an engine home that a dying gpg did not list is not missing`(end: String) throws {
    let files = GnuPGKey.files([.alice, .bob])
    let sound = engine(files, try locations(dyingAt: "--never", end))
    // Alice signs by default, so Bob has to be named.
    _ = try sound.signed(by: .alice)
    #expect(throws: EngineError.unusableKey(GnuPGKey.bob.fingerprint, .noPassphrase)) {
      try sound.checkPassphrase(of: GnuPGKey.bob.fingerprint)
    }
    let grips = engine(files, try locations(dyingAt: "--with-keygrip", end))
    expectIncomplete { try grips.checkPassphrase(of: GnuPGKey.bob.fingerprint) }
    let home = try #require(try self.home.engineHomes.first)
    let signer = engine(
      files, try locations(dyingAt: Self.library, "case \" $* \" in *'\(home) '*--list-keys*) \(end);; esac"))
    expectIncomplete { _ = try signer.signed(by: .bob) }
  }

  @Test(arguments: ["kill -KILL $$", "exit 0"])
  func `a truncated listing of revocations does not revoke a subkey from the beginning`(end: String) throws {
    let person = GnuPGKey.dave.fingerprint
    let files = [person: GnuPGKey.file("dave.retired")]
    let death = "/usr/bin/gpg \"$@\" | sed '/^rev:/,$d'; \(end)"
    let dying = engine(files, try locations(dyingAt: "--list-sigs", death))
    expectIncomplete { _ = try dying.publicKeys() }
    let sound = engine(files, try locations(dyingAt: "--never", end))
    let revocations = try sound.publicKeys().flatMap(\.subkeys).compactMap(\.revocation)
    #expect(revocations.map(\.reason) == [.retired])
  }

  @Test(arguments: silentEnds)
  func `one of several keys with an address is not the only one because gpg died after it`(end: String) throws
  {
    let mail = "two@keytree.example"
    for name in ["First", "Second"] {
      let words = ["--passphrase", "", "--quick-generate-key", "\(name) <\(mail)>", "ed25519", "sign"]
      try home.run(["--pinentry-mode", "loopback"] + words)
    }
    #expect(try UserKeyring(locations: home.locations).publicKeys(withMail: mail).count == 2)
    let death = "/usr/bin/gpg \"$@\" | awk '/^pub:/ && n++ { exit } { print }'; \(end)"
    let keyring = UserKeyring(locations: try locations(dyingAt: Self.library, death))
    expectIncomplete { _ = try keyring.publicKeys(withMail: mail) }
  }

  @Test func `a secret key is here although the agent died while gpg listed the keys`() throws {
    let hidden = "/usr/bin/gpg \"$@\" | sed 's/^\\(ssb:.*\\):+:/\\1:#:/'; exit 0"
    let keyring = UserKeyring(locations: try locations(dyingAt: Self.library, hidden))
    expectIncomplete { _ = try keyring.secretSubkeys() }
  }

  @Test(arguments: ["| head -c 700", "| sed 's/^\\(ssb:.*\\):+:/\\1:#:/'", "| sed '/^sec/,$d'"])
  func `keys that change while they are listed are listed again`(change: String) throws {
    let mark = "\(home.folder)/first"
    let first = "[ -e '\(mark)' ] || { touch '\(mark)'; /usr/bin/gpg \"$@\" \(change); exit 0; }"
    let keyring = UserKeyring(locations: try locations(dyingAt: Self.library, first))
    let places = try keyring.secretSubkeys()
    #expect(places == (try UserKeyring(locations: home.locations).secretSubkeys()))
    #expect(places.count == 2 && FileManager.default.fileExists(atPath: mark))
  }

  @Test func `gpg does not choose the signer because it listed no key`() throws {
    let files = GnuPGKey.files([.alice])
    #expect(try engine(files, try locations(dyingAt: "--never", "")).signed(by: .alice)?.status == .good)
    let userHome = home.home
    let death = "case \" $* \" in *'\(userHome) '*) kill -KILL $$;; esac"
    let dying = engine(files, try locations(dyingAt: "--with-fingerprint", death))
    // The selected signer is stored in the home. A change of the user's keyring makes it unknown.
    try home.run(["--import"], input: GnuPGKey.carol.publicKey)
    expectIncomplete { _ = try dying.signed(by: .alice) }
  }
}
