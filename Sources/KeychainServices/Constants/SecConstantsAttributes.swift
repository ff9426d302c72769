// The keys of attributes. Some strings are used for two keys: `type` is the algorithm for keys and a number for other
// classes.

public import Foundation

// MARK: Attributes of every class

/// Attribute of every class: the condition under which the item may be read, one of the `kSecAttrAccessible...` values;
/// text.
@safe public nonisolated(unsafe) let kSecAttrAccessible: CFString = "pdmn"
/// Attribute of every class: the conditions for access to the item, as a `SecAccessControl`.
@safe public nonisolated(unsafe) let kSecAttrAccessControl: CFString = "accc"
/// Attribute of every class, part of the primary key: the group whose members share the item; text.
@safe public nonisolated(unsafe) let kSecAttrAccessGroup: CFString = "agrp"
/// Attribute of every class, part of the primary key: a Boolean value that indicates whether the item is shared between
/// devices.
@safe public nonisolated(unsafe) let kSecAttrSynchronizable: CFString = "sync"
/// Attribute of every class: the time when the item was added; a date that callers cannot set.
@safe public nonisolated(unsafe) let kSecAttrCreationDate: CFString = "cdat"
/// Attribute of every class: the time when the item was last changed; a date that callers cannot set.
@safe public nonisolated(unsafe) let kSecAttrModificationDate: CFString = "mdat"
/// Attribute of every class: the name that the user sees, never part of a primary key; text.
@safe public nonisolated(unsafe) let kSecAttrLabel: CFString = "labl"
/// Attribute of every class: the view of Apple's synchronization that carries the item; text.
@safe public nonisolated(unsafe) let kSecAttrSyncViewHint: CFString = "vwht"
/// Attribute of every class: the token that holds the item, such as ``kSecAttrTokenIDSecureEnclave``; text.
@safe public nonisolated(unsafe) let kSecAttrTokenID: CFString = "tkid"
/// Attribute of every class: the persistent reference, in Apple's original spelling.
@safe public nonisolated(unsafe) let kSecAttrPersistantReference: CFString = "persistref"
/// Attribute of every class: the persistent reference; data.
@safe public nonisolated(unsafe) let kSecAttrPersistentReference: CFString = "persistref"
/// Attribute of every class in macOS's file keychain: its access list. Deprecated by Apple.
@safe public nonisolated(unsafe) let kSecAttrAccess: CFString = "acls"

// MARK: Attributes of passwords

/// Attribute of generic and internet passwords, part of the primary key: the account or user name; text.
@safe public nonisolated(unsafe) let kSecAttrAccount: CFString = "acct"
/// Attribute of generic and internet passwords: the kind of secret, such as "API token"; text.
@safe public nonisolated(unsafe) let kSecAttrDescription: CFString = "desc"
/// Attribute of generic and internet passwords: a comment that the user may edit; text.
@safe public nonisolated(unsafe) let kSecAttrComment: CFString = "icmt"
/// Attribute of generic and internet passwords: a four-character code of the creator of the item; a number.
@safe public nonisolated(unsafe) let kSecAttrCreator: CFString = "crtr"
/// Attribute of generic and internet passwords: a four-character code of the item's type; a number.
@safe public nonisolated(unsafe) let kSecAttrType: CFString = "type"
/// Attribute of generic and internet passwords: a Boolean value that indicates whether lists for the user leave the
/// item out.
@safe public nonisolated(unsafe) let kSecAttrIsInvisible: CFString = "invi"
/// Attribute of generic and internet passwords: a Boolean value that indicates whether the password is missing on
/// purpose.
@safe public nonisolated(unsafe) let kSecAttrIsNegative: CFString = "nega"
/// Attribute of generic passwords, part of the primary key: the service that the secret is for; text.
@safe public nonisolated(unsafe) let kSecAttrService: CFString = "svce"
/// Attribute of generic passwords, not part of the primary key: application-defined data.
@safe public nonisolated(unsafe) let kSecAttrGeneric: CFString = "gena"
/// Attribute of internet passwords, part of the primary key: the realm of the authentication; text.
@safe public nonisolated(unsafe) let kSecAttrSecurityDomain: CFString = "sdmn"
/// Attribute of internet passwords, part of the primary key: the server's name or address; text.
@safe public nonisolated(unsafe) let kSecAttrServer: CFString = "srvr"
/// Attribute of internet passwords, part of the primary key: one of the `kSecAttrProtocol...` values.
@safe public nonisolated(unsafe) let kSecAttrProtocol: CFString = "ptcl"
/// Attribute of internet passwords, part of the primary key: one of the `kSecAttrAuthenticationType...` values.
@safe public nonisolated(unsafe) let kSecAttrAuthenticationType: CFString = "atyp"
/// Attribute of internet passwords, part of the primary key: the port; a number.
@safe public nonisolated(unsafe) let kSecAttrPort: CFString = "port"
/// Attribute of internet passwords, part of the primary key: the path of the URL; text.
@safe public nonisolated(unsafe) let kSecAttrPath: CFString = "path"

// MARK: Attributes of certificates

/// Attribute of certificates, part of the primary key: the version of X.509, 1 to 3; a number from the DER.
@safe public nonisolated(unsafe) let kSecAttrCertificateType: CFString = "ctyp"
/// Attribute of certificates: the encoding, 3 for DER; a number that callers cannot set.
@safe public nonisolated(unsafe) let kSecAttrCertificateEncoding: CFString = "cenc"
/// Attribute of certificates: the subject's name in DER; data from the certificate.
@safe public nonisolated(unsafe) let kSecAttrSubject: CFString = "subj"
/// Attribute of certificates, part of the primary key: the issuer's name in DER; data from the certificate.
@safe public nonisolated(unsafe) let kSecAttrIssuer: CFString = "issr"
/// Attribute of certificates, part of the primary key: the serial number; data from the certificate.
@safe public nonisolated(unsafe) let kSecAttrSerialNumber: CFString = "slnr"
/// Attribute of certificates: the subject key identifier; data from the certificate.
@safe public nonisolated(unsafe) let kSecAttrSubjectKeyID: CFString = "skid"
/// Attribute of certificates: the SHA-1 of the public key, equal to the application label of its key; data.
@safe public nonisolated(unsafe) let kSecAttrPublicKeyHash: CFString = "pkhh"

// MARK: Attributes of keys

/// Attribute of keys, part of the primary key: public, private or symmetric.
@safe public nonisolated(unsafe) let kSecAttrKeyClass: CFString = "kcls"
/// Attribute of keys, part of the primary key: the algorithm, one of the `kSecAttrKeyType...` values.
@safe public nonisolated(unsafe) let kSecAttrKeyType: CFString = "type"
/// Attribute of keys, part of the primary key: the size in bits; a number.
@safe public nonisolated(unsafe) let kSecAttrKeySizeInBits: CFString = "bsiz"
/// Attribute of keys, part of the primary key: the effective size in bits, such as 56 for DES; a number.
@safe public nonisolated(unsafe) let kSecAttrEffectiveKeySize: CFString = "esiz"
/// Attribute of keys, part of the primary key: the identifier with which a program finds the key, usually the SHA-1 of
/// the public key; data.
@safe public nonisolated(unsafe) let kSecAttrApplicationLabel: CFString = "klbl"
/// Attribute of keys, part of the primary key: the application's own name for the key; data.
@safe public nonisolated(unsafe) let kSecAttrApplicationTag: CFString = "atag"
/// Attribute of keys: a Boolean value that indicates whether a new key is stored when it is created.
@safe public nonisolated(unsafe) let kSecAttrIsPermanent: CFString = "perm"
/// Attribute of keys: a Boolean value that indicates whether the key can leave the keychain only encrypted.
@safe public nonisolated(unsafe) let kSecAttrIsSensitive: CFString = "sens"
/// Attribute of keys: a Boolean value that indicates whether the key may leave the keychain.
@safe public nonisolated(unsafe) let kSecAttrIsExtractable: CFString = "extr"
/// Attribute of keys: a Boolean value that indicates whether the key may encrypt.
@safe public nonisolated(unsafe) let kSecAttrCanEncrypt: CFString = "encr"
/// Attribute of keys: a Boolean value that indicates whether the key may decrypt.
@safe public nonisolated(unsafe) let kSecAttrCanDecrypt: CFString = "decr"
/// Attribute of keys: a Boolean value that indicates whether other keys may be derived from it.
@safe public nonisolated(unsafe) let kSecAttrCanDerive: CFString = "drve"
/// Attribute of keys: a Boolean value that indicates whether the key may sign.
@safe public nonisolated(unsafe) let kSecAttrCanSign: CFString = "sign"
/// Attribute of keys: a Boolean value that indicates whether the key may verify signatures.
@safe public nonisolated(unsafe) let kSecAttrCanVerify: CFString = "vrfy"
/// Attribute of keys: a Boolean value that indicates whether the key may encrypt other keys.
@safe public nonisolated(unsafe) let kSecAttrCanWrap: CFString = "wrap"
/// Attribute of keys: a Boolean value that indicates whether the key may decrypt other keys.
@safe public nonisolated(unsafe) let kSecAttrCanUnwrap: CFString = "unwp"

// MARK: Deriving a key from a password

/// Parameter of a key's derivation from a password: one of the `kSecAttrPRF...` values.
@safe public nonisolated(unsafe) let kSecAttrPRF: CFString = "prf"
/// Parameter of a key's derivation from a password: the salt; data.
@safe public nonisolated(unsafe) let kSecAttrSalt: CFString = "salt"
/// Parameter of a key's derivation from a password: the number of rounds.
@safe public nonisolated(unsafe) let kSecAttrRounds: CFString = "rounds"
