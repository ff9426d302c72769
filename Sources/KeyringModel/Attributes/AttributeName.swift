internal import Encoding

/// The name of an attribute in the store: a word such as `server`, or any custom name.
///
/// Names are compared and ordered by their UTF-8 bytes.
public struct AttributeName: Hashable, Comparable, Sendable {
  /// The name itself.
  public let text: String

  /// Makes a name from any text. An item may use the names below, and custom ones.
  ///
  /// - Parameter text: The name, case-sensitive.
  public init(_ text: String) {
    self.text = text
  }

  /// Returns true if both names consist of the same bytes.
  public static func == (left: AttributeName, right: AttributeName) -> Bool {
    left.text.hasSameBytes(as: right.text)
  }

  /// Orders names by their bytes.
  public static func < (left: AttributeName, right: AttributeName) -> Bool {
    left.text.precedesInBytes(right.text)
  }

  /// Feeds the name to a hasher.
  public func hash(into hasher: inout Hasher) {
    // `String` hashes its canonical form, so two names that are equal by `==` always have the same hash.
    hasher.combine(text)
  }
}

extension AttributeName: ExpressibleByStringLiteral, CustomStringConvertible {
  /// Makes a name from a literal, so that `"server"` can be used as a name.
  public init(stringLiteral value: String) {
    self.init(value)
  }

  /// The same as ``text``.
  public var description: String { text }
}

// Members that every item has. The keyring sets them; they are never set as attributes.
extension AttributeName {
  /// The class of the item, JSON name `class`.
  public static let itemClass: AttributeName = "class"
  /// The id of the item.
  public static let id: AttributeName = "id"
  /// The revision of the secret.
  public static let revision: AttributeName = "revision"
  /// The time when the item was added.
  public static let created: AttributeName = "created"
  /// The time when the item last changed in any way.
  public static let modified: AttributeName = "modified"
  /// The time when the secret last changed.
  public static let secretModified: AttributeName = "secretModified"
  /// The group of people who can read the secret.
  public static let group: AttributeName = "group"
}

extension AttributeName {
  /// The name of the account, on passwords.
  public static let account: AttributeName = "account"
  /// The service of a generic password.
  public static let service: AttributeName = "service"
  /// The host name of an internet password.
  public static let server: AttributeName = "server"
  /// The security domain (HTTP realm) of an internet password.
  public static let securityDomain: AttributeName = "securityDomain"
  /// The protocol of an internet password, a word such as `https` or a number.
  public static let `protocol`: AttributeName = "protocol"
  /// The authentication method of an internet password.
  public static let authenticationType: AttributeName = "authenticationType"
  /// The port of an internet password.
  public static let port: AttributeName = "port"
  /// The path on the server of an internet password.
  public static let path: AttributeName = "path"
  /// The name of a field of a login, such as `otp`; see ``FieldName``.
  public static let field: AttributeName = "field"
  /// The name shown to people.
  public static let label: AttributeName = "label"
  /// Free text about a password.
  public static let comment: AttributeName = "comment"
  /// The user-visible type of the password, such as `application password`.
  public static let kind: AttributeName = "kind"
  /// The creator code of a password or key.
  public static let creator: AttributeName = "creator"
  /// The type code of a password.
  public static let type: AttributeName = "type"
  /// The script code of a password.
  public static let scriptCode: AttributeName = "scriptCode"
  /// A second name.
  public static let alias: AttributeName = "alias"
  /// The flag that hides the password from lists.
  public static let invisible: AttributeName = "invisible"
  /// The flag of an item that records that no password should be stored.
  public static let negative: AttributeName = "negative"
  /// The flag that indicates that a program has its own icon for the item.
  public static let customIcon: AttributeName = "customIcon"
  /// Protected data of a password.
  public static let protected: AttributeName = "protected"
  /// Application-defined bytes of a generic password; not part of the primary key.
  public static let generic: AttributeName = "generic"
  /// The protection class of the secret, such as `ak`, which defines when the secret is accessible.
  public static let accessible: AttributeName = "accessible"
  /// A serialised access control.
  public static let accessControl: AttributeName = "accessControl"
  /// The flag of an item that is marked as synchronised; part of every primary key.
  public static let synchronizable: AttributeName = "synchronizable"
  /// The token that holds the item.
  public static let tokenID: AttributeName = "tokenID"
  /// The view that the item is synchronised in.
  public static let syncViewHint: AttributeName = "syncViewHint"
}

extension AttributeName {
  /// The X.509 version of a certificate.
  public static let certificateType: AttributeName = "certificateType"
  /// The encoding of a certificate.
  public static let certificateEncoding: AttributeName = "certificateEncoding"
  /// The subject of a certificate.
  public static let subject: AttributeName = "subject"
  /// The issuer of a certificate.
  public static let issuer: AttributeName = "issuer"
  /// The serial number of a certificate.
  public static let serialNumber: AttributeName = "serialNumber"
  /// The subject key id of a certificate.
  public static let subjectKeyID: AttributeName = "subjectKeyID"
  /// The hash of a certificate's public key; equals ``applicationLabel`` of its private key.
  public static let publicKeyHash: AttributeName = "publicKeyHash"
  /// The class of a key: public (0), private (1) or symmetric (2).
  public static let keyClass: AttributeName = "keyClass"
  /// The hash of the public key that a key belongs to.
  public static let applicationLabel: AttributeName = "applicationLabel"
  /// The application's own name for a key.
  public static let applicationTag: AttributeName = "applicationTag"
  /// The algorithm of a key.
  public static let keyType: AttributeName = "keyType"
  /// The size of a key in bits.
  public static let keySize: AttributeName = "keySize"
  /// The effective size of a key in bits.
  public static let effectiveKeySize: AttributeName = "effectiveKeySize"
  /// The time from which a key is valid.
  public static let startDate: AttributeName = "startDate"
  /// The time until which a key is valid.
  public static let endDate: AttributeName = "endDate"
  /// The flag of a key that is stored permanently.
  public static let permanent: AttributeName = "permanent"
  /// The flag of a private key.
  public static let `private`: AttributeName = "private"
  /// The flag of a key that can be changed.
  public static let modifiable: AttributeName = "modifiable"
  /// The flag of a key that leaves its store only encrypted.
  public static let sensitive: AttributeName = "sensitive"
  /// The flag of a key that has always been sensitive.
  public static let alwaysSensitive: AttributeName = "alwaysSensitive"
  /// The flag of a key that can be exported from its store.
  public static let extractable: AttributeName = "extractable"
  /// The flag of a key that was never extractable.
  public static let neverExtractable: AttributeName = "neverExtractable"
  /// The flag of a key that can encrypt.
  public static let canEncrypt: AttributeName = "canEncrypt"
  /// The flag of a key that can decrypt.
  public static let canDecrypt: AttributeName = "canDecrypt"
  /// The flag of a key from which other keys can be derived.
  public static let canDerive: AttributeName = "canDerive"
  /// The flag of a key that can sign.
  public static let canSign: AttributeName = "canSign"
  /// The flag of a key that can verify signatures.
  public static let canVerify: AttributeName = "canVerify"
  /// The flag of a key that can sign with message recovery.
  public static let canSignRecover: AttributeName = "canSignRecover"
  /// The flag of a key that can verify with message recovery.
  public static let canVerifyRecover: AttributeName = "canVerifyRecover"
  /// The flag of a key that can wrap other keys.
  public static let canWrap: AttributeName = "canWrap"
  /// The flag of a key that can unwrap other keys.
  public static let canUnwrap: AttributeName = "canUnwrap"
}
