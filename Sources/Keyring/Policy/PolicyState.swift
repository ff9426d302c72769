package import KeyringModel

/// The policy of a store at one moment: its exact bytes and those of its signature.
package struct PolicyState: Sendable {
  /// The policy's bytes.
  package let bytes: [UInt8]
  /// The signature file's bytes; nil if there is none.
  package let signature: [UInt8]?
  /// The parsed policy.
  package let policy: Policy
  /// The digest by which the next policy names this one.
  package let digest: ContentDigest

  /// Reads a policy.
  ///
  /// - Throws: The reason why the bytes are not a policy.
  package init(bytes: [UInt8], signature: [UInt8]?) throws(PolicyError) {
    policy = try Policy.parse(bytes)
    digest = ContentDigest(of: bytes)
    self.bytes = bytes
    self.signature = signature
  }

  /// Reads the policy in a store's folder, trusted or not.
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
  /// Reads the signature of the policy. Returns empty bytes, which are never a valid signature, if it is too large;
  /// nil if there is none.
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
