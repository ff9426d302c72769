// Codes about modules, devices, sessions, databases and requests, which Apple's framework has from its early years.

/// The service is not available.
public let errSecServiceNotAvailable: OSStatus = -67585
/// The caller did not identify itself well enough.
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
/// The record was changed by somebody else.
public let errSecRecordModified: OSStatus = -67638
/// MobileMe put the request into a queue.
public let errSecMobileMeRequestQueued: OSStatus = -67657
/// MobileMe sent the request elsewhere.
public let errSecMobileMeRequestRedirected: OSStatus = -67658
/// The server of MobileMe reported an error.
public let errSecMobileMeServerError: OSStatus = -67659
/// The server of MobileMe cannot be reached.
public let errSecMobileMeServerNotAvailable: OSStatus = -67660
/// The server of MobileMe has that entry already.
public let errSecMobileMeServerAlreadyExists: OSStatus = -67661
/// The service of MobileMe failed.
public let errSecMobileMeServerServiceErr: OSStatus = -67662
/// A request to MobileMe is waiting already.
public let errSecMobileMeRequestAlreadyPending: OSStatus = -67663
/// No request to MobileMe is waiting.
public let errSecMobileMeNoRequestPending: OSStatus = -67664
/// MobileMe could not verify the certificate request.
public let errSecMobileMeCSRVerifyFailure: OSStatus = -67665
/// MobileMe found the request inconsistent.
public let errSecMobileMeFailedConsistencyCheck: OSStatus = -67666
/// The framework is not initialized.
public let errSecNotInitialized: OSStatus = -67667
/// The handle cannot be used for this.
public let errSecInvalidHandleUsage: OSStatus = -67668
/// The caller is not on the list of those who may call.
public let errSecPVCReferentNotFound: OSStatus = -67669
/// The integrity of a function could not be verified.
public let errSecFunctionIntegrityFail: OSStatus = -67670
/// Something failed inside.
public let errSecInternalError: OSStatus = -67671
/// The memory could not be used.
public let errSecMemoryError: OSStatus = -67672
/// The data is not valid.
public let errSecInvalidData: OSStatus = -67673
/// The directory of modules reported an error.
public let errSecMDSError: OSStatus = -67674
/// A pointer is not valid.
public let errSecInvalidPointer: OSStatus = -67675
/// The check of the program by itself failed.
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
/// The number of a function of the module is not valid.
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
/// The query of the database is not valid.
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
/// The sample that proves the right of access is not valid.
public let errSecInvalidSampleValue: OSStatus = -67703
/// The version does not fit.
public let errSecIncompatibleVersion: OSStatus = -67704
/// The privilege was not granted.
public let errSecPrivilegeNotGranted: OSStatus = -67705
/// The scope is not valid.
public let errSecInvalidScope: OSStatus = -67706
/// The checking of pointers is configured already.
public let errSecPVCAlreadyConfigured: OSStatus = -67707
/// The checking of pointers is not set up validly.
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
/// The table of functions of the add-in is not valid.
public let errSecInvalidAddinFunctionTable: OSStatus = -67716
/// The mask of services is not valid.
public let errSecInvalidServiceMask: OSStatus = -67717
/// The module is not loaded.
public let errSecModuleNotLoaded: OSStatus = -67718
/// The number of the module's service is not valid.
public let errSecInvalidSubServiceID: OSStatus = -67719
/// The manager of modules could not be initialized.
public let errSecModuleManagerInitializeFailed: OSStatus = -67721
/// The manager of modules was not found.
public let errSecModuleManagerNotFound: OSStatus = -67722
/// The callback for events was not found.
public let errSecEventNotificationCallbackNotFound: OSStatus = -67723
/// The privilege is not supported.
public let errSecPrivilegeNotSupported: OSStatus = -67726
/// The device reported an error.
public let errSecDeviceError: OSStatus = -67727
/// The handle of the module is busy.
public let errSecAttachHandleBusy: OSStatus = -67728
/// Nobody is logged in.
public let errSecNotLoggedIn: OSStatus = -67729
/// The device could not be verified.
public let errSecDeviceVerifyFailed: OSStatus = -67812
/// The login name is not valid.
public let errSecInvalidLoginName: OSStatus = -67813
/// Somebody is logged in already.
public let errSecAlreadyLoggedIn: OSStatus = -67814
/// The credentials do not suffice.
public let errSecInsufficientCredentials: OSStatus = -67822
/// The action is not valid.
public let errSecInvalidAction: OSStatus = -67823
/// The authority is not valid.
public let errSecInvalidAuthority: OSStatus = -67824
/// The action could not be verified.
public let errSecVerifyActionFailed: OSStatus = -67825
/// The type of the form is not valid.
public let errSecInvalidFormType: OSStatus = -67831
/// The number is not valid.
public let errSecInvalidID: OSStatus = -67832
/// The identifier is not valid.
public let errSecInvalidIdentifier: OSStatus = -67833
/// The index is not valid.
public let errSecInvalidIndex: OSStatus = -67834
/// The time is not written in a valid way.
public let errSecInvalidTimeString: OSStatus = -67836
/// The reason is not valid.
public let errSecInvalidReason: OSStatus = -67837
/// The inputs of the request are not valid.
public let errSecInvalidRequestInputs: OSStatus = -67838
/// The array for the response is not valid.
public let errSecInvalidResponseVector: OSStatus = -67839
/// The tuple is not valid.
public let errSecInvalidTuple: OSStatus = -67841
/// Several values are not supported.
public let errSecMultipleValuesUnsupported: OSStatus = -67842
/// No authority is the default one.
public let errSecNoDefaultAuthority: OSStatus = -67844
/// The form was rejected.
public let errSecRejectedForm: OSStatus = -67845
/// The request was lost.
public let errSecRequestLost: OSStatus = -67846
/// The request was rejected.
public let errSecRequestRejected: OSStatus = -67847
/// The type of the address is not supported.
public let errSecUnsupportedAddressType: OSStatus = -67848
/// The service is not supported.
public let errSecUnsupportedService: OSStatus = -67849
/// The group of tuples is not valid.
public let errSecInvalidTupleGroup: OSStatus = -67850
/// The access lists that others build on are not valid.
public let errSecInvalidBaseACLs: OSStatus = -67851
/// The credentials of the tuple are not valid.
public let errSecInvalidTupleCredentials: OSStatus = -67852
/// The encoding is not valid.
public let errSecInvalidEncoding: OSStatus = -67853
/// The requestor is not valid.
public let errSecInvalidRequestor: OSStatus = -67855
/// The descriptor of the request is not valid.
public let errSecRequestDescriptor: OSStatus = -67856
/// The description of the bundle is not valid.
public let errSecInvalidBundleInfo: OSStatus = -67857
/// The fields have no values.
public let errSecNoFieldValues: OSStatus = -67859
/// The format of the field is not supported.
public let errSecUnsupportedFieldFormat: OSStatus = -67860
/// The description of the index is not supported.
public let errSecUnsupportedIndexInfo: OSStatus = -67861
/// The locality is not supported.
public let errSecUnsupportedLocality: OSStatus = -67862
/// That many attributes are not supported.
public let errSecUnsupportedNumAttributes: OSStatus = -67863
/// That many indexes are not supported.
public let errSecUnsupportedNumIndexes: OSStatus = -67864
/// That many types of records are not supported.
public let errSecUnsupportedNumRecordTypes: OSStatus = -67865
/// A field is given more than once.
public let errSecFieldSpecifiedMultiple: OSStatus = -67866
/// The format of the field does not fit.
public let errSecIncompatibleFieldFormat: OSStatus = -67867
/// The module that parses is not valid.
public let errSecInvalidParsingModule: OSStatus = -67868
/// The database is locked.
public let errSecDatabaseLocked: OSStatus = -67869
/// The database is open.
public let errSecDatastoreIsOpen: OSStatus = -67870
/// A value is missing.
public let errSecMissingValue: OSStatus = -67871
/// The limits of the query are not supported.
public let errSecUnsupportedQueryLimits: OSStatus = -67872
/// That many conditions are not supported.
public let errSecUnsupportedNumSelectionPreds: OSStatus = -67873
/// The operator is not supported.
public let errSecUnsupportedOperator: OSStatus = -67874
/// The location of the database is not valid.
public let errSecInvalidDBLocation: OSStatus = -67875
/// The request for access is not valid.
public let errSecInvalidAccessRequest: OSStatus = -67876
/// The description of the index is not valid.
public let errSecInvalidIndexInfo: OSStatus = -67877
/// The new owner is not valid.
public let errSecInvalidNewOwner: OSStatus = -67878
/// The mode of the change is not valid.
public let errSecInvalidModifyMode: OSStatus = -67879
