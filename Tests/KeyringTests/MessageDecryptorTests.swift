import Encoding
import Keyring
import KeyringModel
import OpenPGP
import TestSupport
import Testing

@Suite(.serialized) struct MessageDecryptorTests {
  private let home: GnuPGHome
  private let host: HostContext

  init() throws {
    home = try GnuPGHome(secret: [.alice, .bob])
    host = HostContext(
      gnupgHome: home.home, engineBase: home.locations.runtimeBase, stateBase: "\(home.folder)/state",
      searchPath: home.locations.searchPath)
  }

  /// Adds 65 user ids to a key of the user. Only an option makes GnuPG accept those without a signature.
  private func overload(_ key: GnuPGKey) throws {
    let users = (0..<65).flatMap { [0xCD, 1, UInt8(ascii: "0") + $0] }
    try home.run(
      ["--allow-non-selfsigned-uid", "--import"],
      input: Armor.binary(key.publicKey, .publicKey) + users)
  }

  @Test func `a key of the user that has too many parts does not prevent the use of another one`() throws {
    try overload(.bob)
    let message = try home.encrypt([1, 2], to: [.alice], namesRecipients: false)
    let secret = try MessageDecryptor(host: host).open(message, limit: 100)
    #expect(unsafe secret.withBytes { unsafe Array($0) } == [1, 2])
  }

  @Test func `the reason is reported if no key of the user can be used`() throws {
    try overload(.bob)
    try overload(.alice)
    #expect {
      _ = try MessageDecryptor(host: host)
    } throws: { error in
      guard case .engine(.unusableKey(let person, let problem), _) = error as? KeyringError else {
        return false
      }
      return [GnuPGKey.alice, .bob].map(\.fingerprint).contains(person)
        && problem == .tooManyParts(limit: 64)
    }
  }
}
