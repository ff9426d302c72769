// The values of attributes that take one value of a list. Apple's numbers are strings here, as in Apple's framework.

public import Foundation

// MARK: Accessibility

/// Accessible: while the device is unlocked; the default.
@safe public nonisolated(unsafe) let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
/// Accessible: from the first unlock after a boot until the next boot; for background work.
@safe public nonisolated(unsafe) let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
/// Accessible: always. Deprecated by Apple.
@safe public nonisolated(unsafe) let kSecAttrAccessibleAlways: CFString = "dk"
/// Accessible: while the device is unlocked, and never on another device.
@safe public nonisolated(unsafe) let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
/// Accessible: from the first unlock after a boot, and never on another device.
@safe public nonisolated(unsafe) let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
/// Accessible: always, but never on another device. Deprecated by Apple.
@safe public nonisolated(unsafe) let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"
/// Accessible: while unlocked, on a device with a passcode, and never on another device.
@safe public nonisolated(unsafe) let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"

// MARK: Synchronization, groups and tokens

/// Synchronizable, in queries only: both items that are shared between devices and items that are not.
@safe public nonisolated(unsafe) let kSecAttrSynchronizableAny: CFString = "syna"
/// Access group: the items that hardware tokens hold.
@safe public nonisolated(unsafe) let kSecAttrAccessGroupToken: CFString = "com.apple.token"
/// Token: the Secure Enclave of Apple's devices.
@safe public nonisolated(unsafe) let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"

// MARK: Protocols

/// Protocol: FTP.
@safe public nonisolated(unsafe) let kSecAttrProtocolFTP: CFString = "ftp "
/// Protocol: FTP, with an account as well as a user.
@safe public nonisolated(unsafe) let kSecAttrProtocolFTPAccount: CFString = "ftpa"
/// Protocol: HTTP.
@safe public nonisolated(unsafe) let kSecAttrProtocolHTTP: CFString = "http"
/// Protocol: Internet Relay Chat.
@safe public nonisolated(unsafe) let kSecAttrProtocolIRC: CFString = "irc "
/// Protocol: NNTP, network news.
@safe public nonisolated(unsafe) let kSecAttrProtocolNNTP: CFString = "nntp"
/// Protocol: POP3, mail.
@safe public nonisolated(unsafe) let kSecAttrProtocolPOP3: CFString = "pop3"
/// Protocol: SMTP, mail.
@safe public nonisolated(unsafe) let kSecAttrProtocolSMTP: CFString = "smtp"
/// Protocol: a SOCKS proxy.
@safe public nonisolated(unsafe) let kSecAttrProtocolSOCKS: CFString = "sox "
/// Protocol: IMAP, mail.
@safe public nonisolated(unsafe) let kSecAttrProtocolIMAP: CFString = "imap"
/// Protocol: LDAP, directories.
@safe public nonisolated(unsafe) let kSecAttrProtocolLDAP: CFString = "ldap"
/// Protocol: AFP over AppleTalk.
@safe public nonisolated(unsafe) let kSecAttrProtocolAppleTalk: CFString = "atlk"
/// Protocol: AFP over TCP.
@safe public nonisolated(unsafe) let kSecAttrProtocolAFP: CFString = "afp "
/// Protocol: Telnet.
@safe public nonisolated(unsafe) let kSecAttrProtocolTelnet: CFString = "teln"
/// Protocol: SSH.
@safe public nonisolated(unsafe) let kSecAttrProtocolSSH: CFString = "ssh "
/// Protocol: FTP over TLS.
@safe public nonisolated(unsafe) let kSecAttrProtocolFTPS: CFString = "ftps"
/// Protocol: HTTP over TLS.
@safe public nonisolated(unsafe) let kSecAttrProtocolHTTPS: CFString = "htps"
/// Protocol: a proxy for HTTP.
@safe public nonisolated(unsafe) let kSecAttrProtocolHTTPProxy: CFString = "htpx"
/// Protocol: a proxy for HTTP over TLS.
@safe public nonisolated(unsafe) let kSecAttrProtocolHTTPSProxy: CFString = "htsx"
/// Protocol: a proxy for FTP.
@safe public nonisolated(unsafe) let kSecAttrProtocolFTPProxy: CFString = "ftpx"
/// Protocol: SMB, file shares.
@safe public nonisolated(unsafe) let kSecAttrProtocolSMB: CFString = "smb "
/// Protocol: RTSP, streams.
@safe public nonisolated(unsafe) let kSecAttrProtocolRTSP: CFString = "rtsp"
/// Protocol: a proxy for RTSP.
@safe public nonisolated(unsafe) let kSecAttrProtocolRTSPProxy: CFString = "rtsx"
/// Protocol: DAAP, shared music.
@safe public nonisolated(unsafe) let kSecAttrProtocolDAAP: CFString = "daap"
/// Protocol: remote Apple events.
@safe public nonisolated(unsafe) let kSecAttrProtocolEPPC: CFString = "eppc"
/// Protocol: IPP, printers.
@safe public nonisolated(unsafe) let kSecAttrProtocolIPP: CFString = "ipp "
/// Protocol: NNTP over TLS.
@safe public nonisolated(unsafe) let kSecAttrProtocolNNTPS: CFString = "ntps"
/// Protocol: LDAP over TLS.
@safe public nonisolated(unsafe) let kSecAttrProtocolLDAPS: CFString = "ldps"
/// Protocol: Telnet over TLS.
@safe public nonisolated(unsafe) let kSecAttrProtocolTelnetS: CFString = "tels"
/// Protocol: IMAP over TLS.
@safe public nonisolated(unsafe) let kSecAttrProtocolIMAPS: CFString = "imps"
/// Protocol: Internet Relay Chat over TLS.
@safe public nonisolated(unsafe) let kSecAttrProtocolIRCS: CFString = "ircs"
/// Protocol: POP3 over TLS.
@safe public nonisolated(unsafe) let kSecAttrProtocolPOP3S: CFString = "pops"

// MARK: Authentication

/// Authentication: NTLM (Windows).
@safe public nonisolated(unsafe) let kSecAttrAuthenticationTypeNTLM: CFString = "ntlm"
/// Authentication: the default of the Microsoft Network.
@safe public nonisolated(unsafe) let kSecAttrAuthenticationTypeMSN: CFString = "msna"
/// Authentication: distributed password authentication.
@safe public nonisolated(unsafe) let kSecAttrAuthenticationTypeDPA: CFString = "dpaa"
/// Authentication: remote password authentication.
@safe public nonisolated(unsafe) let kSecAttrAuthenticationTypeRPA: CFString = "rpaa"
/// Authentication: HTTP Basic.
@safe public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTTPBasic: CFString = "http"
/// Authentication: HTTP Digest.
@safe public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTTPDigest: CFString = "httd"
/// Authentication: a form on a web page.
@safe public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTMLForm: CFString = "form"
/// Authentication: the default of the protocol.
@safe public nonisolated(unsafe) let kSecAttrAuthenticationTypeDefault: CFString = "dflt"

// MARK: Key classes and key types

/// Key class: a public key.
@safe public nonisolated(unsafe) let kSecAttrKeyClassPublic: CFString = "0"
/// Key class: a private key.
@safe public nonisolated(unsafe) let kSecAttrKeyClassPrivate: CFString = "1"
/// Key class: a symmetric key.
@safe public nonisolated(unsafe) let kSecAttrKeyClassSymmetric: CFString = "2"
/// Key type: RSA.
@safe public nonisolated(unsafe) let kSecAttrKeyTypeRSA: CFString = "42"
/// Key type: elliptic curves over prime fields, the older name of ``kSecAttrKeyTypeECSECPrimeRandom``.
@safe public nonisolated(unsafe) let kSecAttrKeyTypeEC: CFString = "73"
/// Key type: the elliptic curves P-256, P-384 and P-521.
@safe public nonisolated(unsafe) let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
/// Key type: elliptic curves for signatures. Deprecated by Apple in favour of ``kSecAttrKeyTypeECSECPrimeRandom``.
@safe public nonisolated(unsafe) let kSecAttrKeyTypeECDSA: CFString = "73"
/// Key type: DSA.
@safe public nonisolated(unsafe) let kSecAttrKeyTypeDSA: CFString = "43"
/// Key type: AES.
@safe public nonisolated(unsafe) let kSecAttrKeyTypeAES: CFString = "2147483649"
/// Key type: DES.
@safe public nonisolated(unsafe) let kSecAttrKeyTypeDES: CFString = "14"
/// Key type: triple DES.
@safe public nonisolated(unsafe) let kSecAttrKeyType3DES: CFString = "17"
/// Key type: RC2.
@safe public nonisolated(unsafe) let kSecAttrKeyTypeRC2: CFString = "23"
/// Key type: RC4.
@safe public nonisolated(unsafe) let kSecAttrKeyTypeRC4: CFString = "25"
/// Key type: CAST.
@safe public nonisolated(unsafe) let kSecAttrKeyTypeCAST: CFString = "56"

// MARK: Pseudorandom functions

/// Pseudorandom function: HMAC with SHA-1.
@safe public nonisolated(unsafe) let kSecAttrPRFHmacAlgSHA1: CFString = "hsha1"
/// Pseudorandom function: HMAC with SHA-224.
@safe public nonisolated(unsafe) let kSecAttrPRFHmacAlgSHA224: CFString = "hsha224"
/// Pseudorandom function: HMAC with SHA-256.
@safe public nonisolated(unsafe) let kSecAttrPRFHmacAlgSHA256: CFString = "hsha256"
/// Pseudorandom function: HMAC with SHA-384.
@safe public nonisolated(unsafe) let kSecAttrPRFHmacAlgSHA384: CFString = "hsha384"
/// Pseudorandom function: HMAC with SHA-512.
@safe public nonisolated(unsafe) let kSecAttrPRFHmacAlgSHA512: CFString = "hsha512"
