// Codes about modules, devices, sessions, databases and requests, which date from the early years of Apple's framework.

/// The service is not available.
public let errSecServiceNotAvailable: OSStatus = -67585
/// The caller did not identify itself sufficiently.
public let errSecInsufficientClientID: OSStatus = -67586
/// The device was reset.
public let errSecDeviceReset: OSStatus = -67587
/// The device failed.
public let errSecDeviceFailed: OSStatus = -67588
/// The quota is exceeded.
public let errSecQuotaExceeded: OSStatus = -67596
/// The file is too large.
public let errSecFileTooBig: OSStatus = -67597
/// The stored database is damaged.
public let errSecInvalidDatabaseBlob: OSStatus = -67598
/// The stored database belongs to another version.
public let errSecIncompatibleDatabaseBlob: OSStatus = -67600
/// There is no more data.
public let errSecEndOfData: OSStatus = -67634
/// The record was changed concurrently.
public let errSecRecordModified: OSStatus = -67638
/// MobileMe queued the request.
public let errSecMobileMeRequestQueued: OSStatus = -67657
/// MobileMe redirected the request.
public let errSecMobileMeRequestRedirected: OSStatus = -67658
/// The MobileMe server reported an error.
public let errSecMobileMeServerError: OSStatus = -67659
/// The MobileMe server cannot be reached.
public let errSecMobileMeServerNotAvailable: OSStatus = -67660
/// The MobileMe server already has that entry.
public let errSecMobileMeServerAlreadyExists: OSStatus = -67661
/// The MobileMe service failed.
public let errSecMobileMeServerServiceErr: OSStatus = -67662
/// A request to MobileMe is already pending.
public let errSecMobileMeRequestAlreadyPending: OSStatus = -67663
/// No request to MobileMe is pending.
public let errSecMobileMeNoRequestPending: OSStatus = -67664
/// MobileMe could not verify the certificate request.
public let errSecMobileMeCSRVerifyFailure: OSStatus = -67665
/// MobileMe rejected the request as inconsistent.
public let errSecMobileMeFailedConsistencyCheck: OSStatus = -67666
/// The framework is not initialized.
public let errSecNotInitialized: OSStatus = -67667
/// The handle cannot be used for this.
public let errSecInvalidHandleUsage: OSStatus = -67668
/// The caller is not in the list of authorized callers.
public let errSecPVCReferentNotFound: OSStatus = -67669
/// The integrity of a function could not be verified.
public let errSecFunctionIntegrityFail: OSStatus = -67670
/// An internal error occurred.
public let errSecInternalError: OSStatus = -67671
/// A memory error occurred.
public let errSecMemoryError: OSStatus = -67672
/// The data is not valid.
public let errSecInvalidData: OSStatus = -67673
/// The module directory reported an error.
public let errSecMDSError: OSStatus = -67674
/// A pointer is not valid.
public let errSecInvalidPointer: OSStatus = -67675
/// The self-check of the program failed.
public let errSecSelfCheckFailed: OSStatus = -67676
/// A function failed.
public let errSecFunctionFailed: OSStatus = -67677
/// The manifest of a module could not be verified.
public let errSecModuleManifestVerifyFailed: OSStatus = -67678
/// The identifier of a module is not valid.
public let errSecInvalidGUID: OSStatus = -67679
/// The handle is not valid.
public let errSecInvalidHandle: OSStatus = -67680
/// The list of databases is not valid.
public let errSecInvalidDBList: OSStatus = -67681
/// The function number of the module is not valid.
public let errSecInvalidPassthroughID: OSStatus = -67682
/// The network address is not valid.
public let errSecInvalidNetworkAddress: OSStatus = -67683
/// The number of fields is not valid.
public let errSecInvalidNumberOfFields: OSStatus = -67685
/// The tag is unknown.
public let errSecUnknownTag: OSStatus = -67687
/// The name is not valid.
public let errSecInvalidName: OSStatus = -67689
/// The tag was not found.
public let errSecTagNotFound: OSStatus = -67692
/// The database query is not valid.
public let errSecInvalidQuery: OSStatus = -67693
/// The value is not valid.
public let errSecInvalidValue: OSStatus = -67694
/// A callback failed.
public let errSecCallbackFailed: OSStatus = -67695
/// An entry of the access list could not be deleted.
public let errSecACLDeleteFailed: OSStatus = -67696
/// An entry of the access list could not be replaced.
public let errSecACLReplaceFailed: OSStatus = -67697
/// An entry could not be added to the access list.
public let errSecACLAddFailed: OSStatus = -67698
/// The access list could not be changed.
public let errSecACLChangeFailed: OSStatus = -67699
/// The access credentials are not valid.
public let errSecInvalidAccessCredentials: OSStatus = -67700
/// The record is not valid.
public let errSecInvalidRecord: OSStatus = -67701
/// The access list is not valid.
public let errSecInvalidACL: OSStatus = -67702
/// The sample of the access credentials is not valid.
public let errSecInvalidSampleValue: OSStatus = -67703
/// The version is not compatible.
public let errSecIncompatibleVersion: OSStatus = -67704
/// The privilege was not granted.
public let errSecPrivilegeNotGranted: OSStatus = -67705
/// The scope is not valid.
public let errSecInvalidScope: OSStatus = -67706
/// Pointer checking is already configured.
public let errSecPVCAlreadyConfigured: OSStatus = -67707
/// The configuration of pointer checking is not valid.
public let errSecInvalidPVC: OSStatus = -67708
/// The elective module manager could not be loaded.
public let errSecEMMLoadFailed: OSStatus = -67709
/// The elective module manager could not be unloaded.
public let errSecEMMUnloadFailed: OSStatus = -67710
/// The add-in could not be loaded.
public let errSecAddinLoadFailed: OSStatus = -67711
/// The add-in could not be unloaded.
public let errSecAddinUnloadFailed: OSStatus = -67714
/// The reference to a library was not found.
public let errSecLibraryReferenceNotFound: OSStatus = -67715
/// The function table of the add-in is not valid.
public let errSecInvalidAddinFunctionTable: OSStatus = -67716
/// The service mask is not valid.
public let errSecInvalidServiceMask: OSStatus = -67717
/// The module is not loaded.
public let errSecModuleNotLoaded: OSStatus = -67718
/// The service number of the module is not valid.
public let errSecInvalidSubServiceID: OSStatus = -67719
/// The module manager could not be initialized.
public let errSecModuleManagerInitializeFailed: OSStatus = -67721
/// The module manager was not found.
public let errSecModuleManagerNotFound: OSStatus = -67722
/// The event callback was not found.
public let errSecEventNotificationCallbackNotFound: OSStatus = -67723
/// The privilege is not supported.
public let errSecPrivilegeNotSupported: OSStatus = -67726
/// The device reported an error.
public let errSecDeviceError: OSStatus = -67727
/// The module handle is busy.
public let errSecAttachHandleBusy: OSStatus = -67728
/// No user is logged in.
public let errSecNotLoggedIn: OSStatus = -67729
/// The device could not be verified.
public let errSecDeviceVerifyFailed: OSStatus = -67812
/// The login name is not valid.
public let errSecInvalidLoginName: OSStatus = -67813
/// A user is already logged in.
public let errSecAlreadyLoggedIn: OSStatus = -67814
/// The credentials are not sufficient.
public let errSecInsufficientCredentials: OSStatus = -67822
/// The action is not valid.
public let errSecInvalidAction: OSStatus = -67823
/// The authority is not valid.
public let errSecInvalidAuthority: OSStatus = -67824
/// The action could not be verified.
public let errSecVerifyActionFailed: OSStatus = -67825
/// The form type is not valid.
public let errSecInvalidFormType: OSStatus = -67831
/// The ID is not valid.
public let errSecInvalidID: OSStatus = -67832
/// The identifier is not valid.
public let errSecInvalidIdentifier: OSStatus = -67833
/// The index is not valid.
public let errSecInvalidIndex: OSStatus = -67834
/// The time string is not valid.
public let errSecInvalidTimeString: OSStatus = -67836
/// The reason is not valid.
public let errSecInvalidReason: OSStatus = -67837
/// The request inputs are not valid.
public let errSecInvalidRequestInputs: OSStatus = -67838
/// The response array is not valid.
public let errSecInvalidResponseVector: OSStatus = -67839
/// The tuple is not valid.
public let errSecInvalidTuple: OSStatus = -67841
/// Multiple values are not supported.
public let errSecMultipleValuesUnsupported: OSStatus = -67842
/// There is no default authority.
public let errSecNoDefaultAuthority: OSStatus = -67844
/// The form was rejected.
public let errSecRejectedForm: OSStatus = -67845
/// The request was lost.
public let errSecRequestLost: OSStatus = -67846
/// The request was rejected.
public let errSecRequestRejected: OSStatus = -67847
/// The address type is not supported.
public let errSecUnsupportedAddressType: OSStatus = -67848
/// The service is not supported.
public let errSecUnsupportedService: OSStatus = -67849
/// The tuple group is not valid.
public let errSecInvalidTupleGroup: OSStatus = -67850
/// The base access lists are not valid.
public let errSecInvalidBaseACLs: OSStatus = -67851
/// The tuple credentials are not valid.
public let errSecInvalidTupleCredentials: OSStatus = -67852
/// The encoding is not valid.
public let errSecInvalidEncoding: OSStatus = -67853
/// The requestor is not valid.
public let errSecInvalidRequestor: OSStatus = -67855
/// The request descriptor is not valid.
public let errSecRequestDescriptor: OSStatus = -67856
/// The bundle description is not valid.
public let errSecInvalidBundleInfo: OSStatus = -67857
/// The fields have no values.
public let errSecNoFieldValues: OSStatus = -67859
/// The field format is not supported.
public let errSecUnsupportedFieldFormat: OSStatus = -67860
/// The index description is not supported.
public let errSecUnsupportedIndexInfo: OSStatus = -67861
/// The locality is not supported.
public let errSecUnsupportedLocality: OSStatus = -67862
/// The number of attributes is not supported.
public let errSecUnsupportedNumAttributes: OSStatus = -67863
/// The number of indexes is not supported.
public let errSecUnsupportedNumIndexes: OSStatus = -67864
/// The number of record types is not supported.
public let errSecUnsupportedNumRecordTypes: OSStatus = -67865
/// A field is given more than once.
public let errSecFieldSpecifiedMultiple: OSStatus = -67866
/// The field format is not compatible.
public let errSecIncompatibleFieldFormat: OSStatus = -67867
/// The parsing module is not valid.
public let errSecInvalidParsingModule: OSStatus = -67868
/// The database is locked.
public let errSecDatabaseLocked: OSStatus = -67869
/// The database is open.
public let errSecDatastoreIsOpen: OSStatus = -67870
/// A value is missing.
public let errSecMissingValue: OSStatus = -67871
/// The query limits are not supported.
public let errSecUnsupportedQueryLimits: OSStatus = -67872
/// The number of conditions is not supported.
public let errSecUnsupportedNumSelectionPreds: OSStatus = -67873
/// The operator is not supported.
public let errSecUnsupportedOperator: OSStatus = -67874
/// The database location is not valid.
public let errSecInvalidDBLocation: OSStatus = -67875
/// The access request is not valid.
public let errSecInvalidAccessRequest: OSStatus = -67876
/// The index description is not valid.
public let errSecInvalidIndexInfo: OSStatus = -67877
/// The new owner is not valid.
public let errSecInvalidNewOwner: OSStatus = -67878
/// The modification mode is not valid.
public let errSecInvalidModifyMode: OSStatus = -67879
