/// The class of an item, which determines the attributes that it may have.
///
/// An identity is not a class: it is the join of a certificate and a private key.
public enum ItemClass: String, CaseIterable, Sendable {
  /// A secret for a service that is not a network server; unique by account and service.
  case genericPassword = "generic-password"
  /// A secret for a server on a network; unique by account, server and five more attributes.
  case internetPassword = "internet-password"
  /// An X.509 certificate; unique by type, issuer and serial number.
  case certificate
  /// A cryptographic key.
  case key
}

extension ItemClass {
  /// The attributes that can be an item's container, in order of precedence. The first one that the item has becomes
  /// the container in its path.
  package var containerNames: [AttributeName] {
    switch self {
    case .genericPassword: Self.genericContainer
    case .internetPassword: Self.internetContainer
    case .certificate: Self.certificateContainer
    case .key: Self.keyContainers
    }
  }

  // Stored, because a search asks for them once per item.
  private static let genericContainer: [AttributeName] = [.service]
  private static let internetContainer: [AttributeName] = [.server]
  private static let certificateContainer: [AttributeName] = [.issuer]
  private static let keyContainers: [AttributeName] = [.applicationTag, .applicationLabel]
}

extension ItemClass {
  /// A set of classes as bits, so that a line of the index can be checked without lookups.
  struct Members: OptionSet {
    let rawValue: UInt8
    static let generic = Members(rawValue: 1)
    static let internet = Members(rawValue: 2)
    static let certificate = Members(rawValue: 4)
    static let key = Members(rawValue: 8)
    static let passwords: Members = [.generic, .internet]
    static let all: Members = [.generic, .internet, .certificate, .key]
  }

  var member: Members {
    switch self {
    case .genericPassword: .generic
    case .internetPassword: .internet
    case .certificate: .certificate
    case .key: .key
    }
  }
}
