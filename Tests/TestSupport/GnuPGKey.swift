import Foundation
package import KeyringModel

/// A throw-away key of `fixtures/gnupg`. The README there says what each key is for.
package enum GnuPGKey: String, CaseIterable, Sendable {
  case alice, bob, carol, dave, future, rsa, expired, revoked, signonly, several, locked

  /// The passphrase of `locked`; the others have none.
  package static let passphrase = "correct horse"

  /// The primary fingerprint.
  package var fingerprint: Fingerprint {
    guard let fingerprint = Fingerprint(digits) else {
      preconditionFailure("a fixture has an invalid fingerprint")
    }
    return fingerprint
  }

  /// The newest valid encryption subkey; of a key that cannot be encrypted to, the newest one, or the primary key.
  package var encryptionSubkey: Fingerprint {
    guard let fingerprint = Fingerprint(encryptionDigits) else {
      preconditionFailure("a fixture has an invalid fingerprint")
    }
    return fingerprint
  }

  /// The mail address in the only user id.
  package var mail: String { "\(rawValue)@keytree.example" }

  /// The public key, armored.
  package var publicKey: [UInt8] { Self.bytes("\(rawValue).public.asc") }

  /// The secret key, armored.
  package var secretKey: [UInt8] { Self.bytes("\(rawValue).secret.asc") }

  /// Returns a detached signature over `policy` and a line feed, made while the key was valid.
  ///
  /// - Parameter key: `expired` or `revoked`.
  /// - Returns: The armored signature.
  package static func signature(by key: GnuPGKey) -> [UInt8] { bytes("\(key.rawValue).signature.asc") }

  /// Returns a public key that the README describes as the result of an event.
  ///
  /// - Parameter name: The name of its file, without the extension.
  /// - Returns: The armored key.
  package static func file(_ name: String) -> [UInt8] { bytes("\(name).asc") }

  /// The signing subkeys of dave: the one with which he started, and the one that replaces it.
  package static var davesSubkeys: (first: Fingerprint, second: Fingerprint) {
    guard let first = Fingerprint("E7470E5E47A329BE6B7D6EA94703363FA801F728"),
      let second = Fingerprint("E81D50E998EF245E44C5B389BCF8BEB4C0C3B022")
    else { preconditionFailure("a fixture has an invalid fingerprint") }
    return (first, second)
  }

  /// A message to alice that expands to 1,000,000,000 bytes.
  package static var bomb: [UInt8] { bytes("bomb.gpg") }

  /// Returns the public keys of some people, as an engine expects them.
  ///
  /// - Parameter keys: The people.
  /// - Returns: Key files by primary fingerprint.
  package static func files(_ keys: [GnuPGKey]) -> [Fingerprint: [UInt8]] {
    Dictionary(uniqueKeysWithValues: keys.map { ($0.fingerprint, $0.publicKey) })
  }

  private var digits: String {
    switch self {
    case .alice: "C86E40475C0FBD627777428CC11945FA7D8856D8"
    case .bob: "B5F28C0DCD5A74569FA573FFB3B71ABCA803B25F"
    case .carol: "8236B649CDE32F83A3268930A70EC9DF62361C50"
    case .dave: "A90E209E6F84F2E8302A0B036A57921C426A1710"
    case .future: "5C8F4AA0E936BDE2C44336E0D75F646A20C2E6BA"
    case .rsa: "DDF593A1E8286FAA4D15A1C86C10EF1F322C69A3"
    case .expired: "B29E40634C7B04B5D84B5A0F1126F6EA0DC6DE1A"
    case .revoked: "288772B3DBF43C3C391B64B49FDC0D354964E4EC"
    case .signonly: "C3B1930E1684644F94BA68E7277CF103FB734D05"
    case .several: "478F943862C844503923D5E5DDB516E729029135"
    case .locked: "D6C085F4E7780F00F1B00AAEE86D534813490460"
    }
  }

  private var encryptionDigits: String {
    switch self {
    case .alice: "2C8B1CC9CCADBF7D4995E72D7579F5211C2A9AC6"
    case .bob: "5AC0F82A5B454B4E43C586B2F0896F197DF1FC3C"
    case .carol: "75AF5DC4C06BE762BF9B215E9762604E79AFC2A1"
    case .dave: "266961E31D666F3E513B9ECD3C8B0158E47CE2C1"
    case .future: "0E8F2D6954CAA2BA177C30A07FABF2F6DA5780BE"
    case .rsa: "8AE2BA126DEA25A110DA46657F4D31708DCBA727"
    case .expired: "34E00FB9CCD87827B3D587A72C0A787F51B2B7EB"
    case .revoked: "0BA036850F933A20BBA9ACC3442E44C5B96917AB"
    case .signonly: digits
    case .several: "91DC20904AAD53985357964133AD7EB027B7C308"
    case .locked: "A4620137CDBF171D9957E2E3B4FC83A0CAFB1573"
    }
  }

  // Fixtures are read in place, because a copy in the build folder could be outdated.
  private static func bytes(_ name: String) -> [UInt8] {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("fixtures/gnupg")
    guard let data = try? Data(contentsOf: folder.appendingPathComponent(name)) else {
      preconditionFailure("fixtures/gnupg/\(name) is missing")
    }
    return Array(data)
  }
}
