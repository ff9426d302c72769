// Codes about keys, algorithms and their parameters, from the cryptographic part of Apple's framework.

/// Adding a program to the access list failed.
public let errSecAppleAddAppACLSubject: OSStatus = -67589
/// The public key is incomplete.
public let errSecApplePublicKeyIncomplete: OSStatus = -67590
/// The program's signature differs from the stored one.
public let errSecAppleSignatureMismatch: OSStatus = -67591
/// The key's start date is not valid.
public let errSecAppleInvalidKeyStartDate: OSStatus = -67592
/// The key's end date is not valid.
public let errSecAppleInvalidKeyEndDate: OSStatus = -67593
/// A conversion failed.
public let errSecConversionError: OSStatus = -67594
/// The peer tried to fall back to SSL 2.
public let errSecAppleSSLv2Rollback: OSStatus = -67595
/// The stored key is damaged.
public let errSecInvalidKeyBlob: OSStatus = -67599
/// The stored key belongs to another version.
public let errSecIncompatibleKeyBlob: OSStatus = -67601
/// The verification failed.
public let errSecVerificationFailure: OSStatus = -67686
/// The signature is not valid.
public let errSecInvalidSignature: OSStatus = -67688
/// The reference to a key is not valid.
public let errSecInvalidKeyRef: OSStatus = -67712
/// The hierarchy of keys is not valid.
public let errSecInvalidKeyHierarchy: OSStatus = -67713
/// The cryptographic context lacks an attribute.
public let errSecAttributeNotInContext: OSStatus = -67720
/// The length of the input is wrong.
public let errSecInputLengthError: OSStatus = -67724
/// The length of the output is wrong.
public let errSecOutputLengthError: OSStatus = -67725
/// The algorithms do not match.
public let errSecAlgorithmMismatch: OSStatus = -67730
/// The key's usage does not allow the operation.
public let errSecKeyUsageIncorrect: OSStatus = -67731
/// The stored key is of another type.
public let errSecKeyBlobTypeIncorrect: OSStatus = -67732
/// The key's header is inconsistent.
public let errSecKeyHeaderInconsistent: OSStatus = -67733
/// The key's format is not supported.
public let errSecUnsupportedKeyFormat: OSStatus = -67734
/// The key's size is not supported.
public let errSecUnsupportedKeySize: OSStatus = -67735
/// The key usage mask is not valid.
public let errSecInvalidKeyUsageMask: OSStatus = -67736
/// The key usage mask is not supported.
public let errSecUnsupportedKeyUsageMask: OSStatus = -67737
/// The key attribute mask is not valid.
public let errSecInvalidKeyAttributeMask: OSStatus = -67738
/// The key attribute mask is not supported.
public let errSecUnsupportedKeyAttributeMask: OSStatus = -67739
/// The key's label is not valid.
public let errSecInvalidKeyLabel: OSStatus = -67740
/// The key's label is not supported.
public let errSecUnsupportedKeyLabel: OSStatus = -67741
/// The key's format is not valid.
public let errSecInvalidKeyFormat: OSStatus = -67742
/// Multiple buffers are not supported.
public let errSecUnsupportedVectorOfBuffers: OSStatus = -67743
/// The input buffers are not valid.
public let errSecInvalidInputVector: OSStatus = -67744
/// The output buffers are not valid.
public let errSecInvalidOutputVector: OSStatus = -67745
/// The cryptographic context is not valid.
public let errSecInvalidContext: OSStatus = -67746
/// The algorithm is not valid.
public let errSecInvalidAlgorithm: OSStatus = -67747
/// The key is not valid in the cryptographic context.
public let errSecInvalidAttributeKey: OSStatus = -67748
/// The key is missing from the cryptographic context.
public let errSecMissingAttributeKey: OSStatus = -67749
/// The initialization vector is not valid in the cryptographic context.
public let errSecInvalidAttributeInitVector: OSStatus = -67750
/// The initialization vector is missing from the cryptographic context.
public let errSecMissingAttributeInitVector: OSStatus = -67751
/// The salt is not valid in the cryptographic context.
public let errSecInvalidAttributeSalt: OSStatus = -67752
/// The salt is missing from the cryptographic context.
public let errSecMissingAttributeSalt: OSStatus = -67753
/// The padding is not valid in the cryptographic context.
public let errSecInvalidAttributePadding: OSStatus = -67754
/// The padding is missing from the cryptographic context.
public let errSecMissingAttributePadding: OSStatus = -67755
/// The random data is not valid in the cryptographic context.
public let errSecInvalidAttributeRandom: OSStatus = -67756
/// The random data is missing from the cryptographic context.
public let errSecMissingAttributeRandom: OSStatus = -67757
/// The seed is not valid in the cryptographic context.
public let errSecInvalidAttributeSeed: OSStatus = -67758
/// The seed is missing from the cryptographic context.
public let errSecMissingAttributeSeed: OSStatus = -67759
/// The passphrase is not valid in the cryptographic context.
public let errSecInvalidAttributePassphrase: OSStatus = -67760
/// The passphrase is missing from the cryptographic context.
public let errSecMissingAttributePassphrase: OSStatus = -67761
/// The key length is not valid in the cryptographic context.
public let errSecInvalidAttributeKeyLength: OSStatus = -67762
/// The key length is missing from the cryptographic context.
public let errSecMissingAttributeKeyLength: OSStatus = -67763
/// The block size is not valid in the cryptographic context.
public let errSecInvalidAttributeBlockSize: OSStatus = -67764
/// The block size is missing from the cryptographic context.
public let errSecMissingAttributeBlockSize: OSStatus = -67765
/// The output size is not valid in the cryptographic context.
public let errSecInvalidAttributeOutputSize: OSStatus = -67766
/// The output size is missing from the cryptographic context.
public let errSecMissingAttributeOutputSize: OSStatus = -67767
/// The number of rounds is not valid in the cryptographic context.
public let errSecInvalidAttributeRounds: OSStatus = -67768
/// The number of rounds is missing from the cryptographic context.
public let errSecMissingAttributeRounds: OSStatus = -67769
/// The algorithm parameters are not valid.
public let errSecInvalidAlgorithmParms: OSStatus = -67770
/// The algorithm parameters are missing.
public let errSecMissingAlgorithmParms: OSStatus = -67771
/// The label is not valid in the cryptographic context.
public let errSecInvalidAttributeLabel: OSStatus = -67772
/// The label is missing from the cryptographic context.
public let errSecMissingAttributeLabel: OSStatus = -67773
/// The key type is not valid in the cryptographic context.
public let errSecInvalidAttributeKeyType: OSStatus = -67774
/// The key type is missing from the cryptographic context.
public let errSecMissingAttributeKeyType: OSStatus = -67775
/// The mode is not valid in the cryptographic context.
public let errSecInvalidAttributeMode: OSStatus = -67776
/// The mode is missing from the cryptographic context.
public let errSecMissingAttributeMode: OSStatus = -67777
/// The number of effective bits is not valid in the cryptographic context.
public let errSecInvalidAttributeEffectiveBits: OSStatus = -67778
/// The number of effective bits is missing from the cryptographic context.
public let errSecMissingAttributeEffectiveBits: OSStatus = -67779
/// The start date is not valid in the cryptographic context.
public let errSecInvalidAttributeStartDate: OSStatus = -67780
/// The start date is missing from the cryptographic context.
public let errSecMissingAttributeStartDate: OSStatus = -67781
/// The end date is not valid in the cryptographic context.
public let errSecInvalidAttributeEndDate: OSStatus = -67782
/// The end date is missing from the cryptographic context.
public let errSecMissingAttributeEndDate: OSStatus = -67783
/// The version is not valid in the cryptographic context.
public let errSecInvalidAttributeVersion: OSStatus = -67784
/// The version is missing from the cryptographic context.
public let errSecMissingAttributeVersion: OSStatus = -67785
/// The prime is not valid in the cryptographic context.
public let errSecInvalidAttributePrime: OSStatus = -67786
/// The prime is missing from the cryptographic context.
public let errSecMissingAttributePrime: OSStatus = -67787
/// The base is not valid in the cryptographic context.
public let errSecInvalidAttributeBase: OSStatus = -67788
/// The base is missing from the cryptographic context.
public let errSecMissingAttributeBase: OSStatus = -67789
/// The subprime is not valid in the cryptographic context.
public let errSecInvalidAttributeSubprime: OSStatus = -67790
/// The subprime is missing from the cryptographic context.
public let errSecMissingAttributeSubprime: OSStatus = -67791
/// The number of iterations is not valid in the cryptographic context.
public let errSecInvalidAttributeIterationCount: OSStatus = -67792
/// The number of iterations is missing from the cryptographic context.
public let errSecMissingAttributeIterationCount: OSStatus = -67793
/// The handle of a data library or database is not valid in the cryptographic context.
public let errSecInvalidAttributeDLDBHandle: OSStatus = -67794
/// The handle of a data library or database is missing from the cryptographic context.
public let errSecMissingAttributeDLDBHandle: OSStatus = -67795
/// The access credentials are not valid in the cryptographic context.
public let errSecInvalidAttributeAccessCredentials: OSStatus = -67796
/// The access credentials are missing from the cryptographic context.
public let errSecMissingAttributeAccessCredentials: OSStatus = -67797
/// The public key format is not valid in the cryptographic context.
public let errSecInvalidAttributePublicKeyFormat: OSStatus = -67798
/// The public key format is missing from the cryptographic context.
public let errSecMissingAttributePublicKeyFormat: OSStatus = -67799
/// The private key format is not valid in the cryptographic context.
public let errSecInvalidAttributePrivateKeyFormat: OSStatus = -67800
/// The private key format is missing from the cryptographic context.
public let errSecMissingAttributePrivateKeyFormat: OSStatus = -67801
/// The symmetric key format is not valid in the cryptographic context.
public let errSecInvalidAttributeSymmetricKeyFormat: OSStatus = -67802
/// The symmetric key format is missing from the cryptographic context.
public let errSecMissingAttributeSymmetricKeyFormat: OSStatus = -67803
/// The wrapped key format is not valid in the cryptographic context.
public let errSecInvalidAttributeWrappedKeyFormat: OSStatus = -67804
/// The wrapped key format is missing from the cryptographic context.
public let errSecMissingAttributeWrappedKeyFormat: OSStatus = -67805
/// A staged operation is still in progress.
public let errSecStagedOperationInProgress: OSStatus = -67806
/// A staged operation was not started.
public let errSecStagedOperationNotStarted: OSStatus = -67807
/// The signature or checksum does not match the data.
public let errSecVerifyFailed: OSStatus = -67808
/// The output size cannot be determined in advance.
public let errSecQuerySizeUnknown: OSStatus = -67809
/// The data does not match the block size.
public let errSecBlockSizeMismatch: OSStatus = -67810
/// The public key is inconsistent.
public let errSecPublicKeyInconsistent: OSStatus = -67811
/// The digest algorithm is not valid.
public let errSecInvalidDigestAlgorithm: OSStatus = -67815
