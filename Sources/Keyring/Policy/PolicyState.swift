package import KeyringModel

/// The policy of a store at one moment: its exact bytes and those of its signature.
package struct PolicyState: Sendable {
  /// The policy's bytes.
  package let bytes: [UInt8]
  /// The signature file's bytes; nil when there is none.
  package let signature: [UInt8]?
  /// What the bytes say.
  package let policy: Policy
  /// What the next policy calls this one.
  package let digest: ContentDigest

  /// Reads a policy.
  ///
  /// - Throws: why it is none.
  package init(bytes: [UInt8], signature: [UInt8]?) throws(PolicyError) {
    policy = try Policy.parse(bytes)
    digest = ContentDigest(of: bytes)
    self.bytes = bytes
    self.signature = signature
  }

  /// The policy in a store's folder, trusted or not.
  ///
  /// - Throws: `KeyringError.noStore`, `.policyNotTrusted` when it cannot be read, or a file error.
  package init(in tree: FileTree) throws(KeyringError) {
    let (bytes, policy) = try TrustedPolicy.read(in: tree)
    self.bytes = bytes
    self.policy = policy
    digest = ContentDigest(of: bytes)
    signature = try tree.policySignature()
  }
}

/// Key files by person.
package typealias KeyFiles = [Fingerprint: [UInt8]]

extension FileTree {
  /// The signature of the policy, for those who report everything that is wrong: one that is too large to be verified is
  /// empty, which is no signature of anyone. nil when there is none.
  ///
  /// - Throws: A file error.
  func policySignature() throws(KeyringError) -> [UInt8]? {
    do throws(FileError) {
      return try read(StoreLayout.policySignature, limit: StoreLayout.signatureLimit)
    } catch {
      if case .tooLarge = error.reason { return [] }
      throw .file(error)
    }
  }
}
