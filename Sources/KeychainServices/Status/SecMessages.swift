// The words for a status; ours, not Apple's.

public import Foundation

/// Says in one English sentence what a status means.
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

/// Every code that has words.
private let messages = Dictionary(
  uniqueKeysWithValues: [messagesOfGeneral, messagesOfCertificates, messagesOfKeys, messagesOfModules]
    .joined().map { ($0.key, $0.value) })

/// The codes of `SecStatus.swift` in words.
let messagesOfGeneral: KeyValuePairs<OSStatus, String> = [
  errSecSuccess: "No error.",
  errSecUnimplemented: "This function or option is not implemented.",
  errSecDiskFull: "The disk is full.",
  errSecIO: "A file could not be read or written.",
  errSecOpWr: "The file is already open for writing.",
  errSecParam: "A parameter is missing, of the wrong type, or not allowed here.",
  errSecWrPerm: "The file may not be written.",
  errSecAllocate: "There is not enough memory.",
  errSecUserCanceled: "The person who was asked cancelled the operation.",
  errSecBadReq: "The request or its parameters make no sense in the present state.",
  errSecInternalComponent: "A component of the keychain failed inside.",
  errSecCoreFoundationUnknown: "A function of CoreFoundation failed for an unknown reason.",
  errSecMissingEntitlement: "This program has no right to the access group or service that it named.",
  errSecRestrictedAPI: "This program may not call the function.",
  errSecNotAvailable: "There is no keychain that can be used.",
  errSecReadOnly: "The keychain or item can only be read.",
  errSecAuthFailed: "The passphrase or other proof was wrong.",
  errSecNoSuchKeychain: "There is no such keychain.",
  errSecInvalidKeychain: "The keychain is not a valid one.",
  errSecDuplicateKeychain: "A keychain of that name exists already.",
  errSecDuplicateCallback: "The callback is registered already.",
  errSecInvalidCallback: "The callback is not a valid one.",
  errSecDuplicateItem: "An item with the same primary key exists already.",
  errSecItemNotFound: "No item matches.",
  errSecBufferTooSmall: "The buffer is too small for the result.",
  errSecDataTooLarge: "The data is too large for this attribute or item.",
  errSecNoSuchAttr: "Items of this class have no such attribute.",
  errSecInvalidItemRef: "The reference does not name an item, or no longer does.",
  errSecInvalidSearchRef: "The search is not a valid one, or is over.",
  errSecNoSuchClass: "There is no such class of items.",
  errSecNoDefaultKeychain: "No keychain is the default one.",
  errSecInteractionNotAllowed: "Somebody would have to be asked, which is not allowed here.",
  errSecReadOnlyAttr: "The attribute cannot be changed.",
  errSecWrongSecVersion: "The item was written by another version.",
  errSecKeySizeNotAllowed: "Keys of this size are not allowed.",
  errSecNoStorageModule: "No module for storing was found.",
  errSecNoCertificateModule: "No module for certificates was found.",
  errSecNoPolicyModule: "No module for trust policies was found.",
  errSecInteractionRequired: "Somebody has to be asked before this can go on.",
  errSecDataNotAvailable: "The item's data cannot be had now.",
  errSecDataNotModifiable: "The item's data cannot be changed.",
  errSecCreateChainFailed: "No chain of certificates could be built.",
  errSecInvalidPrefsDomain: "The domain of preferences is not a valid one.",
  errSecInDarkWake: "The machine is awake in the background only, so nobody can be asked.",
  errSecACLNotSimple: "The access list is not of the simple form.",
  errSecPolicyNotFound: "The trust policy was not found.",
  errSecInvalidTrustSetting: "A trust setting is not valid.",
  errSecNoAccessForItem: "Nothing governs who may use the item.",
  errSecInvalidOwnerEdit: "The owner of an item cannot be changed this way.",
  errSecTrustNotAvailable: "No result of a trust evaluation is there yet.",
  errSecUnsupportedFormat: "The format is known but not supported.",
  errSecUnknownFormat: "The format is unknown.",
  errSecKeyIsSensitive: "The key leaves the keychain only encrypted.",
  errSecMultiplePrivKeys: "More than one private key was given where one is expected.",
  errSecPassphraseRequired: "A passphrase is needed.",
  errSecInvalidPasswordRef: "The reference to a password is not valid.",
  errSecInvalidTrustSettings: "The stored trust settings are damaged.",
  errSecNoTrustSettings: "There are no trust settings.",
  errSecPkcs12VerifyFailure: "The PKCS #12 file is damaged, or its passphrase is another.",
  errSecNotSigner: "This certificate did not sign the message.",
  errSecDecode: "The data could not be decoded or decrypted.",
]
