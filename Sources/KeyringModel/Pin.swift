/// What this machine has accepted of a keyring's policy; kept outside the store.
public struct Pin: Equatable, Sendable {
  /// The generation of the accepted policy.
  public var generation: Int
  /// The digest of the accepted policy's exact bytes.
  public var digest: ContentDigest
  /// The people whose signature the next policy needs one of.
  public var admins: [Fingerprint]

  /// The format that this version writes.
  package static let format: Int64 = 1
  /// The most bytes of a pin.
  package static let maximumSize = 256 * 1024

  /// Brings all parts together.
  ///
  /// - Parameters:
  ///   - generation: The generation of the accepted policy, from 1.
  ///   - digest: The digest of its bytes.
  ///   - admins: Its admins; the pin keeps them sorted and each once.
  public init(generation: Int, digest: ContentDigest, admins: [Fingerprint]) {
    self.generation = generation
    self.digest = digest
    self.admins = Set(admins).sorted()
  }

  /// Pins a policy.
  ///
  /// - Parameters:
  ///   - policy: The policy that was accepted.
  ///   - bytes: The exact bytes that it was read from or is written as.
  public init(policy: Policy, bytes: [UInt8]) {
    self.init(
      generation: policy.generation, digest: ContentDigest(of: bytes), admins: policy.admins)
  }

  /// Writes the pin as canonical JSON with a line feed.
  public func encode() -> [UInt8] {
    let json = JSONValue.object([
      JSONMember("format", .integer(Pin.format)),
      JSONMember("generation", .integer(Int64(generation))),
      JSONMember("digest", .string(digest.base64url)),
      JSONMember("admins", .array(Set(admins).sorted().map { .string($0.text) })),
    ])
    return json.canonicalBytes + [UInt8(ascii: "\n")]
  }

  /// Reads a pin from the exact bytes of its file.
  ///
  /// - Parameter bytes: The whole file.
  /// - Throws: ``PolicyError``, as ``Policy/parse(_:)`` does; ``PolicyError/noAdmin`` when nobody is named.
  public static func parse(_ bytes: [UInt8]) throws(PolicyError) -> Pin {
    var fields = try PolicyFields(parsing: bytes, size: maximumSize, format: format)
    let generation = try fields.takeInteger("generation")
    guard generation >= 1 else { throw .invalid("generation") }
    guard let digest = ContentDigest(base64url: try fields.takeString("digest")) else {
      throw .invalid("digest")
    }
    let admins = try fields.takeFingerprints("admins")
    guard !admins.isEmpty else { throw .noAdmin }
    try fields.finish()
    let pin = Pin(generation: Int(generation), digest: digest, admins: admins)
    guard pin.encode() == bytes else { throw .notCanonical }
    return pin
  }
}
