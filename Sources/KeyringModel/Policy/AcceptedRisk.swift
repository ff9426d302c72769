package import Encoding

/// An admin's decision that a secret need not be changed, although a person who was removed could have read it.
///
/// It applies to one revision of the secret and has no effect after the secret changes.
package struct AcceptedRisk: Equatable, Sendable {
  /// The revision of the secret that the decision applies to.
  package var revision: Revision
  /// The reason for accepting the risk; not empty.
  package var reason: String
  /// The admin who decided.
  package var by: Fingerprint
  /// The time when the risk was accepted.
  package var at: Timestamp

  /// The maximum size of a reason, in bytes.
  package static let maximumReason = 1024

  /// Makes a decision from its parts.
  package init(revision: Revision, reason: String, by: Fingerprint, at: Timestamp) {
    (self.revision, self.reason, self.by, self.at) = (revision, reason, by, at)
  }

  /// Returns true if both are equal; reasons are compared as bytes.
  package static func == (left: AcceptedRisk, right: AcceptedRisk) -> Bool {
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
