// The keys of a query besides attributes: the class, the match conditions, the results and the use options.

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
/// Class: a public, private or symmetric key.
@safe public nonisolated(unsafe) let kSecClassKey: CFString = "keys"
/// Class: a certificate together with its private key; a join of those two classes, stored as both.
@safe public nonisolated(unsafe) let kSecClassIdentity: CFString = "idnt"

// MARK: Match conditions

/// Match: only certificates and identities that are valid under this trust policy.
@safe public nonisolated(unsafe) let kSecMatchPolicy: CFString = "m_Policy"
/// Match: only items from this array of references or persistent references; the class is still required.
@safe public nonisolated(unsafe) let kSecMatchItemList: CFString = "m_ItemList"
/// Match: the macOS keychains to search, as an array.
@safe public nonisolated(unsafe) let kSecMatchSearchList: CFString = "m_SearchList"
/// Match: only certificates and identities with one of these issuers (DER of their names) in their chain.
@safe public nonisolated(unsafe) let kSecMatchIssuers: CFString = "m_Issuers"
/// Match: only certificates and identities with this email address, or with none.
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
/// Match: a Boolean value that indicates whether text is compared without regard to case.
@safe public nonisolated(unsafe) let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"
/// Match: a Boolean value that indicates whether text is compared without regard to accents.
@safe public nonisolated(unsafe) let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"
/// Match: a Boolean value that indicates whether text is compared without regard to half and full width.
@safe public nonisolated(unsafe) let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"
/// Match: a Boolean value that indicates whether only certificates with a chain to a trusted root match.
@safe public nonisolated(unsafe) let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"
/// Match: only certificates and identities valid on this date; null means now.
@safe public nonisolated(unsafe) let kSecMatchValidOnDate: CFString = "m_ValidOnDate"
/// Match: the maximum number of items: a number, ``kSecMatchLimitOne`` or ``kSecMatchLimitAll``; one if absent.
@safe public nonisolated(unsafe) let kSecMatchLimit: CFString = "m_Limit"
/// Limit: the first item that matches.
@safe public nonisolated(unsafe) let kSecMatchLimitOne: CFString = "m_LimitOne"
/// Limit: all items that match, as an array; cannot be combined with ``kSecReturnData``.
@safe public nonisolated(unsafe) let kSecMatchLimitAll: CFString = "m_LimitAll"

// MARK: Results

/// Return: the secret itself, or a certificate's or key's bytes, as data; a boolean.
@safe public nonisolated(unsafe) let kSecReturnData: CFString = "r_Data"
/// Return: the attributes, as a dictionary that never contains the secret; a boolean.
@safe public nonisolated(unsafe) let kSecReturnAttributes: CFString = "r_Attributes"
/// Return: an object: `SecCertificate`, `SecKey` or `SecIdentity`; a boolean.
@safe public nonisolated(unsafe) let kSecReturnRef: CFString = "r_Ref"
/// Return: a reference as data, which stays valid after the process ends and after changes to the item; a boolean.
@safe public nonisolated(unsafe) let kSecReturnPersistentRef: CFString = "r_PersistentRef"

// MARK: Values

/// Value: the secret of the item as data; a password's text in UTF-8, a certificate's DER.
@safe public nonisolated(unsafe) let kSecValueData: CFString = "v_Data"
/// Value: a `SecCertificate`, `SecKey` or `SecIdentity` to add or to find.
@safe public nonisolated(unsafe) let kSecValueRef: CFString = "v_Ref"
/// Value: a persistent reference, which names one item and implies its class.
@safe public nonisolated(unsafe) let kSecValuePersistentRef: CFString = "v_PersistentRef"

// MARK: Use options

/// Use: an array of items to search instead of a keychain.
@safe public nonisolated(unsafe) let kSecUseItemList: CFString = "u_ItemList"
/// Use: the macOS keychain to which an item is added.
@safe public nonisolated(unsafe) let kSecUseKeychain: CFString = "u_Keychain"
/// Use: the text that tells the user why they are asked. Deprecated by Apple, because an `LAContext` contains the text.
@safe public nonisolated(unsafe) let kSecUseOperationPrompt: CFString = "u_OpPrompt"
/// Use: a Boolean value that indicates whether asking the user is forbidden. Deprecated by Apple in favour of
/// ``kSecUseAuthenticationUI``.
@safe public nonisolated(unsafe) let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
/// Use: the behaviour if the user would have to be asked: allow, fail or skip.
@safe public nonisolated(unsafe) let kSecUseAuthenticationUI: CFString = "u_AuthUI"
/// Authentication: the user is asked; the default. Deprecated by Apple, because it is redundant.
@safe public nonisolated(unsafe) let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
/// Authentication: the call fails with ``errSecInteractionNotAllowed``. Deprecated by Apple in favour of an
/// `LAContext`.
@safe public nonisolated(unsafe) let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
/// Authentication: items for which the user would be asked are left out; only in searches.
@safe public nonisolated(unsafe) let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
/// Use: the `LAContext` that determines whether and how the user is asked.
@safe public nonisolated(unsafe) let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
/// Use: a Boolean value that indicates whether macOS uses the keychain of iOS instead of its file keychain.
@safe public nonisolated(unsafe) let kSecUseDataProtectionKeychain: CFString = "nleg"
/// Use: a Boolean value that indicates whether an Apple TV uses the keychain that its users share.
@safe public nonisolated(unsafe) let kSecUseUserIndependentKeychain: CFString = "u_UserIndependentKeychain"
