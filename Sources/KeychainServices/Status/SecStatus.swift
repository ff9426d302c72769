// The status codes that the functions of the keychain return.

/// The status of a call; zero means success.
public typealias OSStatus = Int32

/// No error; the oldest name of ``errSecSuccess``.
public let noErr: OSStatus = 0

/// No error. The call succeeded.
public let errSecSuccess: OSStatus = 0
/// This function or option is not implemented. It is only declared, such as signing with a key.
public let errSecUnimplemented: OSStatus = -4
/// The disk is full.
public let errSecDiskFull: OSStatus = -34
/// A file could not be read or written. It is a file of the store.
public let errSecIO: OSStatus = -36
/// The file is already open for writing.
public let errSecOpWr: OSStatus = -49
/// A parameter is missing, of the wrong type, or not allowed here. Nothing was looked up or changed.
public let errSecParam: OSStatus = -50
/// The file may not be written.
public let errSecWrPerm: OSStatus = -61
/// There is not enough memory.
public let errSecAllocate: OSStatus = -108
/// The user cancelled the operation. They were asked for a passphrase.
public let errSecUserCanceled: OSStatus = -128
/// The request or its parameters are not valid in the current state.
public let errSecBadReq: OSStatus = -909
/// An internal component of the keychain failed.
public let errSecInternalComponent: OSStatus = -2070
/// A function of CoreFoundation failed for an unknown reason.
public let errSecCoreFoundationUnknown: OSStatus = -4960
/// This program has no right to the access group or service that it named.
public let errSecMissingEntitlement: OSStatus = -34018
/// This program may not call the function.
public let errSecRestrictedAPI: OSStatus = -34020
/// No usable keychain is available. The store is missing or cannot be used.
public let errSecNotAvailable: OSStatus = -25291
/// The keychain or item is read-only.
public let errSecReadOnly: OSStatus = -25292
/// The passphrase or another credential was wrong. The agent that holds the key may also have refused.
public let errSecAuthFailed: OSStatus = -25293
/// There is no such keychain.
public let errSecNoSuchKeychain: OSStatus = -25294
/// The keychain is not valid.
public let errSecInvalidKeychain: OSStatus = -25295
/// A keychain with that name already exists.
public let errSecDuplicateKeychain: OSStatus = -25296
/// The callback is already registered.
public let errSecDuplicateCallback: OSStatus = -25297
/// The callback is not valid.
public let errSecInvalidCallback: OSStatus = -25298
/// An item with the same primary key already exists. Nothing was added or changed.
public let errSecDuplicateItem: OSStatus = -25299
/// No item matches. An empty array is never a result.
public let errSecItemNotFound: OSStatus = -25300
/// The buffer is too small for the result.
public let errSecBufferTooSmall: OSStatus = -25301
/// The data is too large for this attribute or item.
public let errSecDataTooLarge: OSStatus = -25302
/// Items of this class have no such attribute. The query names one.
public let errSecNoSuchAttr: OSStatus = -25303
/// The reference does not name an item, or no longer does.
public let errSecInvalidItemRef: OSStatus = -25304
/// The search is not valid, or has ended.
public let errSecInvalidSearchRef: OSStatus = -25305
/// There is no such item class.
public let errSecNoSuchClass: OSStatus = -25306
/// There is no default keychain.
public let errSecNoDefaultKeychain: OSStatus = -25307
/// The user would have to be asked, which is not allowed here. A passphrase is needed.
public let errSecInteractionNotAllowed: OSStatus = -25308
/// The attribute cannot be changed.
public let errSecReadOnlyAttr: OSStatus = -25309
/// The item was written by another version.
public let errSecWrongSecVersion: OSStatus = -25310
/// Keys of this size are not allowed.
public let errSecKeySizeNotAllowed: OSStatus = -25311
/// No storage module was found.
public let errSecNoStorageModule: OSStatus = -25312
/// No certificate module was found.
public let errSecNoCertificateModule: OSStatus = -25313
/// No trust policy module was found.
public let errSecNoPolicyModule: OSStatus = -25314
/// The user has to be asked before the operation can continue.
public let errSecInteractionRequired: OSStatus = -25315
/// The item's data is not available now.
public let errSecDataNotAvailable: OSStatus = -25316
/// The item's data cannot be changed.
public let errSecDataNotModifiable: OSStatus = -25317
/// No certificate chain could be built.
public let errSecCreateChainFailed: OSStatus = -25318
/// The preference domain is not valid.
public let errSecInvalidPrefsDomain: OSStatus = -25319
/// The machine is awake only in the background, so the user cannot be asked.
public let errSecInDarkWake: OSStatus = -25320
/// The access list is not in the simple form.
public let errSecACLNotSimple: OSStatus = -25240
/// The trust policy was not found.
public let errSecPolicyNotFound: OSStatus = -25241
/// A trust setting is not valid.
public let errSecInvalidTrustSetting: OSStatus = -25242
/// The item has no access control.
public let errSecNoAccessForItem: OSStatus = -25243
/// The owner of an item cannot be changed this way.
public let errSecInvalidOwnerEdit: OSStatus = -25244
/// The result of the trust evaluation is not available yet.
public let errSecTrustNotAvailable: OSStatus = -25245
/// The format is known but not supported.
public let errSecUnsupportedFormat: OSStatus = -25256
/// The format is unknown.
public let errSecUnknownFormat: OSStatus = -25257
/// The key can leave the keychain only encrypted.
public let errSecKeyIsSensitive: OSStatus = -25258
/// More than one private key was given where one is expected.
public let errSecMultiplePrivKeys: OSStatus = -25259
/// A passphrase is needed.
public let errSecPassphraseRequired: OSStatus = -25260
/// The reference to a password is not valid.
public let errSecInvalidPasswordRef: OSStatus = -25261
/// The stored trust settings are damaged.
public let errSecInvalidTrustSettings: OSStatus = -25262
/// There are no trust settings.
public let errSecNoTrustSettings: OSStatus = -25263
/// The PKCS #12 file is damaged, or the passphrase is wrong.
public let errSecPkcs12VerifyFailure: OSStatus = -25264
/// This certificate did not sign the message.
public let errSecNotSigner: OSStatus = -26267
/// The data could not be decoded or decrypted. The item is damaged, or not encrypted to any key on this machine.
public let errSecDecode: OSStatus = -26275
