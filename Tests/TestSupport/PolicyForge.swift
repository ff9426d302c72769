import Foundation
internal import Keyring
package import KeyringModel

/// Makes policies and signs them with real GnuPG, also such as nobody should make.
package struct PolicyForge {
  /// The GnuPG home with the secret keys.
  package let gnupg: GnuPGHome
  /// The store whose files are written.
  package let store: String

  /// A forge for a store.
  package init(_ gnupg: GnuPGHome, store: String) { (self.gnupg, self.store) = (gnupg, store) }

  /// The policy in the store.
  package var policy: Policy {
    get throws { try Policy.parse(try bytes("policy.json")) }
  }

  /// Makes the policy that follows the one in the store, and writes it with a signature and key files.
  ///
  /// - Parameters:
  ///   - edits: What is different.
  ///   - signer: Who signs; nil leaves the signature file as it is.
  ///   - change: More that is different, which no edit can do.
  package func succeed(
    _ edits: [PolicyEdit], by signer: GnuPGKey?, _ change: (inout Policy) -> Void = { _ in }
  ) throws {
    let bytes = try bytes("policy.json")
    let now = Timestamp(microseconds: 1_900_000_000_000_000)
    var next = try Policy.parse(bytes).successor(by: edits, previous: ContentDigest(of: bytes), at: now)
    change(&next)
    for case .add(let person, _, _, _) in edits {
      guard let key = GnuPGKey.allCases.first(where: { $0.fingerprint == person }) else { continue }
      try write(key.publicKey, to: StoreLayout.keyFile(person))
    }
    try write(next.encode(), signedBy: signer)
  }

  /// Writes a policy and its signature.
  package func write(_ policy: [UInt8], signedBy signer: GnuPGKey?) throws {
    try write(policy, to: StoreLayout.policy)
    guard let signer else { return }
    try write(sign(policy, by: signer), to: StoreLayout.policySignature)
  }

  /// A detached signature.
  package func sign(_ bytes: [UInt8], by signer: GnuPGKey) throws -> [UInt8] {
    try gnupg.run(["--armor", "--local-user", signer.fingerprint.text, "--detach-sign"], input: bytes)
  }

  /// The edit that adds somebody of the fixtures.
  package static func adding(_ key: GnuPGKey, _ role: Person.Role = .member) -> PolicyEdit {
    .add(key.fingerprint, name: key.mail, role: role, key: ContentDigest(of: key.publicKey))
  }

  /// The bytes of a file of the store.
  package func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: "\(store)/\(path)")))
  }

  /// Writes a file of the store.
  package func write(_ bytes: [UInt8], to path: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: "\(store)/\(path)"))
  }
}
