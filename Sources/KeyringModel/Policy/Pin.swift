package import Encoding

/// The policy of a keyring that this machine has accepted; kept outside the store.
package struct Pin: Equatable, Sendable {
  /// The generation of the accepted policy.
  package var generation: Int
  /// The digest of the accepted policy's exact bytes.
  package var digest: ContentDigest
  /// The admins of the accepted policy. One of them must have signed the next policy.
  package var admins: [Fingerprint]
  /// The digest of each person's key file as it was accepted; nil in a pin from before digests were stored.
  ///
  /// The signature of a policy does not cover the key files themselves. An older file of the same key is valid, but may
  /// lack a revocation or contain a retired encryption subkey.
  package var keys: [Fingerprint: ContentDigest]?

  /// The format that this version writes.
  package static let format: Int64 = 1
  /// The maximum size of a pin in bytes, enough for as many people as a policy can have.
  package static let maximumSize = Policy.maximumSize

  /// Makes a pin from its parts.
  ///
  /// - Parameters:
  ///   - generation: The generation of the accepted policy, from 1.
  ///   - digest: The digest of its bytes.
  ///   - admins: Its admins. The pin sorts them and removes duplicates.
  ///   - keys: The digest of each person's key file, or nil if they are not known.
  package init(
    generation: Int, digest: ContentDigest, admins: [Fingerprint], keys: [Fingerprint: ContentDigest]?
  ) {
    self.generation = generation
    self.digest = digest
    self.admins = Set(admins).sorted()
    self.keys = keys
  }

  /// Makes the pin of a policy.
  ///
  /// - Parameters:
  ///   - policy: The policy that was accepted.
  ///   - bytes: The exact bytes of the policy's file.
  ///   - keys: The key file of each person in the policy.
  package init(policy: Policy, bytes: [UInt8], keys: [Fingerprint: [UInt8]]) {
    self.init(
      generation: policy.generation, digest: ContentDigest(of: bytes), admins: policy.admins,
      keys: keys.mapValues { ContentDigest(of: $0) })
  }

  /// Writes the pin as canonical JSON with a line feed.
  package func encode() -> [UInt8] {
    var members = [
      JSONMember("format", .integer(Pin.format)),
      JSONMember("generation", .integer(Int64(generation))),
      JSONMember("digest", .string(digest.base64url)),
      JSONMember("admins", .array(Set(admins).sorted().map { .string($0.text) })),
    ]
    if let keys {
      let digests = keys.map { JSONMember($0.key.text, .string($0.value.base64url)) }
      members.append(JSONMember("keys", .object(digests)))
    }
    return JSONValue.object(members).canonicalBytes + [UInt8(ascii: "\n")]
  }

  /// Reads a pin from the exact bytes of its file.
  ///
  /// - Parameter bytes: The whole file.
  /// - Throws: ``PolicyError``, as ``Policy/parse(_:)`` does; ``PolicyError/noAdmin`` if the list of admins is empty.
  package static func parse(_ bytes: [UInt8]) throws(PolicyError) -> Pin {
    var fields = try PolicyFields(parsing: bytes, size: maximumSize, format: format)
    let generation = try fields.takeInteger("generation")
    guard generation >= 1 else { throw .invalid("generation") }
    guard let digest = ContentDigest(base64url: try fields.takeString("digest")) else {
      throw .invalid("digest")
    }
    let admins = try fields.takeFingerprints("admins")
    guard !admins.isEmpty else { throw .noAdmin }
    let keys = try fields.takeOptionalObject("keys").map(Self.digests)
    try fields.finish()
    let pin = Pin(generation: Int(generation), digest: digest, admins: admins, keys: keys)
    guard pin.encode() == bytes else { throw .notCanonical }
    return pin
  }

  private static func digests(
    _ members: [JSONMember]
  ) throws(PolicyError) -> [Fingerprint: ContentDigest] {
    var keys: [Fingerprint: ContentDigest] = [:]
    for member in members {
      guard let fingerprint = Fingerprint(member.name), case .string(let text) = member.value,
        let digest = ContentDigest(base64url: text)
      else { throw .invalid("keys") }
      keys[fingerprint] = digest
    }
    return keys
  }
}
