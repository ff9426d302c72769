import Foundation
internal import Keyring
package import KeyringModel

/// Creates policies, including invalid ones, and signs them with real GnuPG.
package struct PolicyForge {
  /// The GnuPG home with the secret keys.
  package let gnupg: GnuPGHome
  /// The store whose files are written.
  package let store: String

  /// Creates a forge for a store.
  package init(_ gnupg: GnuPGHome, store: String) { (self.gnupg, self.store) = (gnupg, store) }

  /// The policy in the store.
  package var policy: Policy {
    get throws { try Policy.parse(try bytes("policy.json")) }
  }

  /// Creates the successor of the policy in the store, and writes it with a signature and key files.
  ///
  /// - Parameters:
  ///   - edits: The edits.
  ///   - signer: The key that signs; nil leaves the signature file unchanged.
  ///   - change: A further change that no edit can make.
  package func succeed(
    _ edits: [PolicyEdit], by signer: GnuPGKey?, _ change: (inout Policy) -> Void = { _ in }
  ) throws {
    let bytes = try bytes("policy.json")
    let now = Timestamp(microseconds: 1_900_000_000_000_000)
    var next = try Policy.parse(bytes).successor(by: edits, previous: ContentDigest(of: bytes), at: now)
    change(&next)
    for case .add(let person, _, _, _, _) in edits {
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

  /// Returns a detached signature.
  package func sign(_ bytes: [UInt8], by signer: GnuPGKey) throws -> [UInt8] {
    try gnupg.run(["--armor", "--local-user", signer.fingerprint.text, "--detach-sign"], input: bytes)
  }

  /// Returns the edit that adds the owner of a fixture key.
  package static func adding(_ key: GnuPGKey, _ role: Person.Role = .member) -> PolicyEdit {
    .add(
      key.fingerprint, name: key.mail, role: role, key: ContentDigest(of: key.publicKey),
      encryptTo: [key.encryptionSubkey])
  }

  /// Returns the bytes of a file in the store.
  package func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: "\(store)/\(path)")))
  }

  /// Writes a file in the store.
  package func write(_ bytes: [UInt8], to path: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: "\(store)/\(path)"))
  }
}
