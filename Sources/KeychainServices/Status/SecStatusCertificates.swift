// Codes about certificates: chains, revocation, code and email signing, timestamps. Keytree does not evaluate trust.

/// The certificate was issued for another host name.
public let errSecHostNameMismatch: OSStatus = -67602
/// A critical extension of the certificate is unknown.
public let errSecUnknownCriticalExtensionFlag: OSStatus = -67603
/// The certificate has no basic constraints.
public let errSecNoBasicConstraints: OSStatus = -67604
/// The basic constraints do not identify a certificate authority.
public let errSecNoBasicConstraintsCA: OSStatus = -67605
/// The authority key identifier is not valid.
public let errSecInvalidAuthorityKeyID: OSStatus = -67606
/// The subject key identifier is not valid.
public let errSecInvalidSubjectKeyID: OSStatus = -67607
/// The certificate's key usage does not match the trust policy.
public let errSecInvalidKeyUsageForPolicy: OSStatus = -67608
/// The certificate's extended key usage is not valid.
public let errSecInvalidExtendedKeyUsage: OSStatus = -67609
/// The identifiers of issuer and subject do not link the certificates.
public let errSecInvalidIDLinkage: OSStatus = -67610
/// The certificate chain is longer than one of its certificates allows.
public let errSecPathLengthConstraintExceeded: OSStatus = -67611
/// The root or anchor certificate is not valid.
public let errSecInvalidRoot: OSStatus = -67612
/// The revocation list is too old.
public let errSecCRLExpired: OSStatus = -67613
/// The revocation list is not valid yet.
public let errSecCRLNotValidYet: OSStatus = -67614
/// The revocation list was not found.
public let errSecCRLNotFound: OSStatus = -67615
/// The server of the revocation list does not respond.
public let errSecCRLServerDown: OSStatus = -67616
/// The address of the revocation list is not valid.
public let errSecCRLBadURI: OSStatus = -67617
/// An extension of the certificate is unknown.
public let errSecUnknownCertExtension: OSStatus = -67618
/// An extension of the revocation list is unknown.
public let errSecUnknownCRLExtension: OSStatus = -67619
/// The revocation list is not trusted.
public let errSecCRLNotTrusted: OSStatus = -67620
/// The revocation list does not match the trust policy.
public let errSecCRLPolicyFailed: OSStatus = -67621
/// The issuing distribution point of the revocation list does not match.
public let errSecIDPFailure: OSStatus = -67622
/// The certificate does not contain the requested email address.
public let errSecSMIMEEmailAddressesNotFound: OSStatus = -67623
/// The certificate's extended key usage does not allow email.
public let errSecSMIMEBadExtendedKeyUsage: OSStatus = -67624
/// The certificate's key usage does not allow email.
public let errSecSMIMEBadKeyUsage: OSStatus = -67625
/// The key usage of an email certificate is not marked critical.
public let errSecSMIMEKeyUsageNotCritical: OSStatus = -67626
/// The email certificate contains no email address.
public let errSecSMIMENoEmailAddress: OSStatus = -67627
/// The alternative name of an email certificate is not marked critical.
public let errSecSMIMESubjAltNameNotCritical: OSStatus = -67628
/// The certificate's extended key usage does not allow TLS.
public let errSecSSLBadExtendedKeyUsage: OSStatus = -67629
/// The OCSP response could not be read.
public let errSecOCSPBadResponse: OSStatus = -67630
/// The OCSP request could not be read.
public let errSecOCSPBadRequest: OSStatus = -67631
/// The OCSP service cannot be reached.
public let errSecOCSPUnavailable: OSStatus = -67632
/// The OCSP service does not know the certificate.
public let errSecOCSPStatusUnrecognized: OSStatus = -67633
/// The revocation check could not be completed.
public let errSecIncompleteCertRevocationCheck: OSStatus = -67635
/// The network failed.
public let errSecNetworkFailure: OSStatus = -67636
/// The OCSP response does not lead to a trusted root.
public let errSecOCSPNotTrustedToAnchor: OSStatus = -67637
/// The signature of the OCSP response is not valid.
public let errSecOCSPSignatureError: OSStatus = -67639
/// The OCSP response does not identify its signer.
public let errSecOCSPNoSigner: OSStatus = -67640
/// The OCSP service could not read the request.
public let errSecOCSPResponderMalformedReq: OSStatus = -67641
/// The OCSP service had an internal error.
public let errSecOCSPResponderInternalError: OSStatus = -67642
/// The OCSP service is busy; try again later.
public let errSecOCSPResponderTryLater: OSStatus = -67643
/// The OCSP service requires signed requests.
public let errSecOCSPResponderSignatureRequired: OSStatus = -67644
/// The OCSP service refused the request.
public let errSecOCSPResponderUnauthorized: OSStatus = -67645
/// The nonce of the OCSP response differs from that of the request.
public let errSecOCSPResponseNonceMismatch: OSStatus = -67646
/// The certificate chain of the signed code has the wrong length.
public let errSecCodeSigningBadCertChainLength: OSStatus = -67647
/// A code signing certificate has no basic constraints.
public let errSecCodeSigningNoBasicConstraints: OSStatus = -67648
/// The path length of a code signing certificate is wrong.
public let errSecCodeSigningBadPathLengthConstraint: OSStatus = -67649
/// A code signing certificate has no extended key usage.
public let errSecCodeSigningNoExtendedKeyUsage: OSStatus = -67650
/// The code was signed with a certificate for development only.
public let errSecCodeSigningDevelopment: OSStatus = -67651
/// The certificate chain of the signed resource has the wrong length.
public let errSecResourceSignBadCertChainLength: OSStatus = -67652
/// The extended key usage of the signed resource's certificate is wrong.
public let errSecResourceSignBadExtKeyUsage: OSStatus = -67653
/// A trust setting forbids this certificate.
public let errSecTrustSettingDeny: OSStatus = -67654
/// The subject's name is empty or not valid.
public let errSecInvalidSubjectName: OSStatus = -67655
/// A statement of the qualified certificate is unknown.
public let errSecUnknownQualifiedCertStatement: OSStatus = -67656
/// The revocation list is already signed.
public let errSecCRLAlreadySigned: OSStatus = -67684
/// The reference to a certificate is not valid.
public let errSecInvalidCertificateRef: OSStatus = -67690
/// The group of certificates is not valid.
public let errSecInvalidCertificateGroup: OSStatus = -67691
/// The group of revocation lists is not valid.
public let errSecInvalidCRLGroup: OSStatus = -67816
/// The certificate cannot be used for this operation.
public let errSecCertificateCannotOperate: OSStatus = -67817
/// The certificate has expired.
public let errSecCertificateExpired: OSStatus = -67818
/// The certificate is not valid yet.
public let errSecCertificateNotValidYet: OSStatus = -67819
/// The certificate was revoked.
public let errSecCertificateRevoked: OSStatus = -67820
/// The certificate is suspended.
public let errSecCertificateSuspended: OSStatus = -67821
/// The authority of the certificate is not valid.
public let errSecInvalidCertAuthority: OSStatus = -67826
/// The authority of the revocation list is not valid.
public let errSecInvalidCRLAuthority: OSStatus = -67827
/// The encoding of the revocation list is not valid.
public let errSecInvalidCRLEncoding: OSStatus = -67828
/// The type of the revocation list is not valid.
public let errSecInvalidCRLType: OSStatus = -67829
/// The revocation list is not valid.
public let errSecInvalidCRL: OSStatus = -67830
/// The policy identifiers are not valid.
public let errSecInvalidPolicyIdentifiers: OSStatus = -67835
/// The policy at which to stop is not valid.
public let errSecInvalidStopOnPolicy: OSStatus = -67840
/// The certificate is not trusted.
public let errSecNotTrusted: OSStatus = -67843
/// The validity period is not valid.
public let errSecInvalidValidityPeriod: OSStatus = -67854
/// The index into the revocation list is not valid.
public let errSecInvalidCRLIndex: OSStatus = -67858
/// The certificate lacks a required extension.
public let errSecMissingRequiredExtension: OSStatus = -67880
/// The extended key usage is not marked critical.
public let errSecExtendedKeyUsageNotCritical: OSStatus = -67881
/// An expected timestamp is missing.
public let errSecTimestampMissing: OSStatus = -67882
/// The timestamp is not valid.
public let errSecTimestampInvalid: OSStatus = -67883
/// The timestamp is not trusted.
public let errSecTimestampNotTrusted: OSStatus = -67884
/// The timestamp service cannot be reached.
public let errSecTimestampServiceNotAvailable: OSStatus = -67885
/// The timestamp service does not know the algorithm.
public let errSecTimestampBadAlg: OSStatus = -67886
/// The timestamp service does not allow or support the request.
public let errSecTimestampBadRequest: OSStatus = -67887
/// The timestamp service could not read the data.
public let errSecTimestampBadDataFormat: OSStatus = -67888
/// The timestamp service has no time source at the moment.
public let errSecTimestampTimeNotAvailable: OSStatus = -67889
/// The timestamp service does not support the policy.
public let errSecTimestampUnacceptedPolicy: OSStatus = -67890
/// The timestamp service does not support an extension.
public let errSecTimestampUnacceptedExtension: OSStatus = -67891
/// The additional information of the timestamp service is not available.
public let errSecTimestampAddInfoNotAvailable: OSStatus = -67892
/// The timestamp service had an internal error.
public let errSecTimestampSystemFailure: OSStatus = -67893
/// The signing time is missing.
public let errSecSigningTimeMissing: OSStatus = -67894
/// The timestamp service rejected the request.
public let errSecTimestampRejection: OSStatus = -67895
/// The timestamp is not ready yet.
public let errSecTimestampWaiting: OSStatus = -67896
/// The timestamp service warns that it is about to be revoked.
public let errSecTimestampRevocationWarning: OSStatus = -67897
/// The timestamp service was revoked.
public let errSecTimestampRevocationNotification: OSStatus = -67898
/// A policy of the certificate is not allowed by its issuers.
public let errSecCertificatePolicyNotAllowed: OSStatus = -67899
/// A name of the certificate is not allowed by its issuers.
public let errSecCertificateNameNotAllowed: OSStatus = -67900
/// The certificate is valid for longer than is allowed.
public let errSecCertificateValidityPeriodTooLong: OSStatus = -67901
/// The certificate is a certificate authority's, which is not expected here.
public let errSecCertificateIsCA: OSStatus = -67902
/// The certificate contains the same extension twice.
public let errSecCertificateDuplicateExtension: OSStatus = -67903
/// The qualified certificate lacks a required statement.
public let errSecMissingQualifiedCertStatement: OSStatus = -67904
