// The messages for status codes. The text is ours, not Apple's.

public import Foundation

/// Returns one English sentence that describes a status.
///
/// - Parameters:
///   - status: The status of a call.
///   - reserved: Not used; nil.
/// - Returns: The sentence, or `OSStatus` and the number for a code that has none.
@safe public func SecCopyErrorMessageString(
  _ status: OSStatus, _ reserved: UnsafeMutableRawPointer?
) -> CFString? {
  (messages[status] ?? "OSStatus \(status)") as CFString
}

/// The messages of all codes.
private let messages = Dictionary(
  uniqueKeysWithValues: [messagesOfGeneral, messagesOfCertificates, messagesOfKeys, messagesOfModules]
    .joined().map { ($0.key, $0.value) })

/// The messages for the codes of `SecStatus.swift`.
let messagesOfGeneral: KeyValuePairs<OSStatus, String> = [
  errSecSuccess: "No error.",
  errSecUnimplemented: "This function or option is not implemented.",
  errSecDiskFull: "The disk is full.",
  errSecIO: "A file could not be read or written.",
  errSecOpWr: "The file is already open for writing.",
  errSecParam: "A parameter is missing, of the wrong type, or not allowed here.",
  errSecWrPerm: "The file may not be written.",
  errSecAllocate: "There is not enough memory.",
  errSecUserCanceled: "The user cancelled the operation.",
  errSecBadReq: "The request or its parameters are not valid in the current state.",
  errSecInternalComponent: "An internal component of the keychain failed.",
  errSecCoreFoundationUnknown: "A function of CoreFoundation failed for an unknown reason.",
  errSecMissingEntitlement: "This program has no right to the access group or service that it named.",
  errSecRestrictedAPI: "This program may not call the function.",
  errSecNotAvailable: "No usable keychain is available.",
  errSecReadOnly: "The keychain or item is read-only.",
  errSecAuthFailed: "The passphrase or another credential was wrong.",
  errSecNoSuchKeychain: "There is no such keychain.",
  errSecInvalidKeychain: "The keychain is not valid.",
  errSecDuplicateKeychain: "A keychain with that name already exists.",
  errSecDuplicateCallback: "The callback is already registered.",
  errSecInvalidCallback: "The callback is not valid.",
  errSecDuplicateItem: "An item with the same primary key already exists.",
  errSecItemNotFound: "No item matches.",
  errSecBufferTooSmall: "The buffer is too small for the result.",
  errSecDataTooLarge: "The data is too large for this attribute or item.",
  errSecNoSuchAttr: "Items of this class have no such attribute.",
  errSecInvalidItemRef: "The reference does not name an item, or no longer does.",
  errSecInvalidSearchRef: "The search is not valid, or has ended.",
  errSecNoSuchClass: "There is no such item class.",
  errSecNoDefaultKeychain: "There is no default keychain.",
  errSecInteractionNotAllowed: "The user would have to be asked, which is not allowed here.",
  errSecReadOnlyAttr: "The attribute cannot be changed.",
  errSecWrongSecVersion: "The item was written by another version.",
  errSecKeySizeNotAllowed: "Keys of this size are not allowed.",
  errSecNoStorageModule: "No storage module was found.",
  errSecNoCertificateModule: "No certificate module was found.",
  errSecNoPolicyModule: "No trust policy module was found.",
  errSecInteractionRequired: "The user has to be asked before the operation can continue.",
  errSecDataNotAvailable: "The item's data is not available now.",
  errSecDataNotModifiable: "The item's data cannot be changed.",
  errSecCreateChainFailed: "No certificate chain could be built.",
  errSecInvalidPrefsDomain: "The preference domain is not valid.",
  errSecInDarkWake: "The machine is awake only in the background, so the user cannot be asked.",
  errSecACLNotSimple: "The access list is not in the simple form.",
  errSecPolicyNotFound: "The trust policy was not found.",
  errSecInvalidTrustSetting: "A trust setting is not valid.",
  errSecNoAccessForItem: "The item has no access control.",
  errSecInvalidOwnerEdit: "The owner of an item cannot be changed this way.",
  errSecTrustNotAvailable: "The result of the trust evaluation is not available yet.",
  errSecUnsupportedFormat: "The format is known but not supported.",
  errSecUnknownFormat: "The format is unknown.",
  errSecKeyIsSensitive: "The key can leave the keychain only encrypted.",
  errSecMultiplePrivKeys: "More than one private key was given where one is expected.",
  errSecPassphraseRequired: "A passphrase is needed.",
  errSecInvalidPasswordRef: "The reference to a password is not valid.",
  errSecInvalidTrustSettings: "The stored trust settings are damaged.",
  errSecNoTrustSettings: "There are no trust settings.",
  errSecPkcs12VerifyFailure: "The PKCS #12 file is damaged, or the passphrase is wrong.",
  errSecNotSigner: "This certificate did not sign the message.",
  errSecDecode: "The data could not be decoded or decrypted.",
]
