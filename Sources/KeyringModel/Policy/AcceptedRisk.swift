public import Encoding

/// Somebody's decision that a secret need not be changed although a person who left could have read it.
///
/// It holds for one revision of the secret: with the next one there is nothing left to be accepted.
public struct AcceptedRisk: Equatable, Sendable {
  /// The state of the secret that was judged.
  public var revision: Revision
  /// The reason for accepting the risk; not empty.
  public var reason: String
  /// The admin who decided.
  public var by: Fingerprint
  /// The time when the risk was accepted.
  public var at: Timestamp

  /// The most bytes of a reason.
  public static let maximumReason = 1024

  /// Brings all parts together.
  public init(revision: Revision, reason: String, by: Fingerprint, at: Timestamp) {
    (self.revision, self.reason, self.by, self.at) = (revision, reason, by, at)
  }

  /// Returns true if both are equal; reasons are compared as bytes.
  public static func == (left: AcceptedRisk, right: AcceptedRisk) -> Bool {
    left.revision == right.revision && left.reason.hasSameBytes(as: right.reason) && left.by == right.by
      && left.at == right.at
  }
}

extension AcceptedRisk {
  var json: JSONValue {
    .object([
      JSONMember("at", .string(at.rfc3339)), JSONMember("by", .string(by.text)),
      JSONMember("reason", .string(reason)), JSONMember("revision", .string(revision.hex)),
    ])
  }

  init(_ json: JSONValue) throws(PolicyError) {
    guard case .object(let members) = json else { throw .invalid("accepted") }
    var fields = PolicyFields(members)
    guard let at = Timestamp(rfc3339: try fields.takeString("at")) else { throw .invalid("at") }
    guard let by = Fingerprint(try fields.takeString("by")) else { throw .invalid("by") }
    let reason = try fields.takeString("reason")
    guard !reason.isEmpty, reason.utf8.count <= Self.maximumReason else { throw .invalid("reason") }
    guard let revision = Revision(hex: try fields.takeString("revision")) else { throw .invalid("revision") }
    try fields.finish()
    self.init(revision: revision, reason: reason, by: by, at: at)
  }
}
