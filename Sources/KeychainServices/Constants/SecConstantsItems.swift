// What a query says besides attributes: the class, what to match, what to return, and how to ask.

public import Foundation

// MARK: The class

/// Key: the class of an item, one of the five `kSecClass...` values; every query needs it.
@safe public nonisolated(unsafe) let kSecClass: CFString = "class"
/// Class: a password or any other secret, found by service and account.
@safe public nonisolated(unsafe) let kSecClassGenericPassword: CFString = "genp"
/// Class: a password for a server, found by server, protocol, port, path and account.
@safe public nonisolated(unsafe) let kSecClassInternetPassword: CFString = "inet"
/// Class: an X.509 certificate.
@safe public nonisolated(unsafe) let kSecClassCertificate: CFString = "cert"
/// Class: a key: public, private or symmetric.
@safe public nonisolated(unsafe) let kSecClassKey: CFString = "keys"
/// Class: a certificate together with its private key; a join of those two classes, stored as both.
@safe public nonisolated(unsafe) let kSecClassIdentity: CFString = "idnt"

// MARK: What to match

/// Match: only certificates and identities that hold under this trust policy.
@safe public nonisolated(unsafe) let kSecMatchPolicy: CFString = "m_Policy"
/// Match: only items out of this array of references or persistent references; the class is still needed.
@safe public nonisolated(unsafe) let kSecMatchItemList: CFString = "m_ItemList"
/// Match: the keychains of macOS in which to look, as an array.
@safe public nonisolated(unsafe) let kSecMatchSearchList: CFString = "m_SearchList"
/// Match: only certificates and identities with one of these issuers (DER of their names) in their chain.
@safe public nonisolated(unsafe) let kSecMatchIssuers: CFString = "m_Issuers"
/// Match: only certificates and identities with this mail address, or with none.
@safe public nonisolated(unsafe) let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"
/// Match: only certificates and identities whose subject contains this text.
@safe public nonisolated(unsafe) let kSecMatchSubjectContains: CFString = "m_SubjectContains"
/// Match: only certificates and identities whose subject starts with this text.
@safe public nonisolated(unsafe) let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"
/// Match: only certificates and identities whose subject ends with this text.
@safe public nonisolated(unsafe) let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"
/// Match: only certificates and identities whose subject is exactly this text.
@safe public nonisolated(unsafe) let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"
/// Match: only internet passwords whose server is this host or a host below it, as `a.example.org` is
/// below `example.org`.
@safe public nonisolated(unsafe) let kSecMatchHostOrSubdomainOfHost: CFString = "m_HostOrSubdomainOfHost"
/// Match: whether text is compared without regard to case; a boolean.
@safe public nonisolated(unsafe) let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"
/// Match: whether text is compared without regard to accents; a boolean.
@safe public nonisolated(unsafe) let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"
/// Match: whether text is compared without regard to half and full width; a boolean.
@safe public nonisolated(unsafe) let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"
/// Match: whether only certificates with a chain to a trusted root are wanted; a boolean.
@safe public nonisolated(unsafe) let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"
/// Match: only certificates and identities valid on this date; null means now.
@safe public nonisolated(unsafe) let kSecMatchValidOnDate: CFString = "m_ValidOnDate"
/// Match: how many items at most: a number, ``kSecMatchLimitOne`` or ``kSecMatchLimitAll``; one if
/// absent.
@safe public nonisolated(unsafe) let kSecMatchLimit: CFString = "m_Limit"
/// Limit: the first item that matches.
@safe public nonisolated(unsafe) let kSecMatchLimitOne: CFString = "m_LimitOne"
/// Limit: all items that match, as an array; not together with ``kSecReturnData``.
@safe public nonisolated(unsafe) let kSecMatchLimitAll: CFString = "m_LimitAll"

// MARK: What to return

/// Return: the secret itself, or a certificate's or key's bytes, as data; a boolean.
@safe public nonisolated(unsafe) let kSecReturnData: CFString = "r_Data"
/// Return: the attributes, as a dictionary that never holds the secret; a boolean.
@safe public nonisolated(unsafe) let kSecReturnAttributes: CFString = "r_Attributes"
/// Return: an object: `SecCertificate`, `SecKey` or `SecIdentity`; a boolean.
@safe public nonisolated(unsafe) let kSecReturnRef: CFString = "r_Ref"
/// Return: a reference as data, which outlives the process and changes of the item; a boolean.
@safe public nonisolated(unsafe) let kSecReturnPersistentRef: CFString = "r_PersistentRef"

// MARK: Values

/// Value: the secret of the item as data; a password's text in UTF-8, a certificate's DER.
@safe public nonisolated(unsafe) let kSecValueData: CFString = "v_Data"
/// Value: a `SecCertificate`, `SecKey` or `SecIdentity` to add or to look for.
@safe public nonisolated(unsafe) let kSecValueRef: CFString = "v_Ref"
/// Value: a persistent reference, which names one item and implies its class.
@safe public nonisolated(unsafe) let kSecValuePersistentRef: CFString = "v_PersistentRef"

// MARK: How to ask

/// Use: an array of items to search instead of a keychain.
@safe public nonisolated(unsafe) let kSecUseItemList: CFString = "u_ItemList"
/// Use: the keychain of macOS to which an item is added.
@safe public nonisolated(unsafe) let kSecUseKeychain: CFString = "u_Keychain"
/// Use: the text that tells a person why they are asked. Apple deprecates it: an `LAContext` has the
/// text.
@safe public nonisolated(unsafe) let kSecUseOperationPrompt: CFString = "u_OpPrompt"
/// Use: whether asking a person is forbidden. Apple deprecates it for ``kSecUseAuthenticationUI``.
@safe public nonisolated(unsafe) let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
/// Use: what happens when a person would have to be asked: allow, fail or skip.
@safe public nonisolated(unsafe) let kSecUseAuthenticationUI: CFString = "u_AuthUI"
/// Authentication: the person is asked; the default. Apple deprecates it, since it says nothing new.
@safe public nonisolated(unsafe) let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
/// Authentication: the call fails with ``errSecInteractionNotAllowed``. Apple deprecates it for an
/// `LAContext`.
@safe public nonisolated(unsafe) let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
/// Authentication: items for which a person would be asked are left out; only when searching.
@safe public nonisolated(unsafe) let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
/// Use: the `LAContext` that says whether and how a person is asked.
@safe public nonisolated(unsafe) let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
/// Use: whether macOS takes the keychain of iOS instead of its file keychain; a boolean.
@safe public nonisolated(unsafe) let kSecUseDataProtectionKeychain: CFString = "nleg"
/// Use: whether an Apple TV takes the keychain that its users share; a boolean.
@safe public nonisolated(unsafe) let kSecUseUserIndependentKeychain: CFString = "u_UserIndependentKeychain"
