#if os(Linux)
  internal import KeychainServices
#else
  internal import Security
#endif

extension InternetPassword {
  /// The protocol of a server; the value of `kSecAttrProtocol`.
  public struct NetworkProtocol: RawRepresentable, Sendable, Hashable {
    /// Apple's code, usually four characters.
    public let rawValue: String

    /// Creates a value from any code.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// FTP.
    public static let ftp = Self(rawValue: kSecAttrProtocolFTP as String)
    /// FTP over TLS.
    public static let ftps = Self(rawValue: kSecAttrProtocolFTPS as String)
    /// HTTP.
    public static let http = Self(rawValue: kSecAttrProtocolHTTP as String)
    /// HTTP over TLS.
    public static let https = Self(rawValue: kSecAttrProtocolHTTPS as String)
    /// A proxy for HTTP.
    public static let httpProxy = Self(rawValue: kSecAttrProtocolHTTPProxy as String)
    /// A proxy for HTTP over TLS.
    public static let httpsProxy = Self(rawValue: kSecAttrProtocolHTTPSProxy as String)
    /// A SOCKS proxy.
    public static let socks = Self(rawValue: kSecAttrProtocolSOCKS as String)
    /// IMAP, mail.
    public static let imap = Self(rawValue: kSecAttrProtocolIMAP as String)
    /// IMAP over TLS.
    public static let imaps = Self(rawValue: kSecAttrProtocolIMAPS as String)
    /// POP3, mail.
    public static let pop3 = Self(rawValue: kSecAttrProtocolPOP3 as String)
    /// POP3 over TLS.
    public static let pop3s = Self(rawValue: kSecAttrProtocolPOP3S as String)
    /// SMTP, mail.
    public static let smtp = Self(rawValue: kSecAttrProtocolSMTP as String)
    /// LDAP, directories.
    public static let ldap = Self(rawValue: kSecAttrProtocolLDAP as String)
    /// LDAP over TLS.
    public static let ldaps = Self(rawValue: kSecAttrProtocolLDAPS as String)
    /// SSH.
    public static let ssh = Self(rawValue: kSecAttrProtocolSSH as String)
    /// SMB, file shares.
    public static let smb = Self(rawValue: kSecAttrProtocolSMB as String)
    /// AFP, file shares.
    public static let afp = Self(rawValue: kSecAttrProtocolAFP as String)
  }

  /// The authentication method of a server; the value of `kSecAttrAuthenticationType`.
  public struct AuthenticationType: RawRepresentable, Sendable, Hashable {
    /// Apple's code, or any other text.
    public let rawValue: String

    /// Creates a value from any code.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// HTTP Basic.
    public static let httpBasic = Self(rawValue: kSecAttrAuthenticationTypeHTTPBasic as String)
    /// HTTP Digest.
    public static let httpDigest = Self(rawValue: kSecAttrAuthenticationTypeHTTPDigest as String)
    /// A form on a web page.
    public static let htmlForm = Self(rawValue: kSecAttrAuthenticationTypeHTMLForm as String)
    /// NTLM (Windows).
    public static let ntlm = Self(rawValue: kSecAttrAuthenticationTypeNTLM as String)
    /// The default of the protocol.
    public static let usual = Self(rawValue: kSecAttrAuthenticationTypeDefault as String)
  }
}
