import Foundation
import Security
import Testing

/// Tests the functions of CoreFoundation for bytes, times and errors against Apple's documentation of them.
@Suite(.serialized)
struct CoreFoundationDataTests {
  @Test func `data has a copy of the bytes`() {
    var bytes: [UInt8] = [1, 2, 3]
    let data = unsafe CFDataCreate(kCFAllocatorDefault, &bytes, 3)!
    bytes[0] = 9
    #expect(data as Data == Data([1, 2, 3]))
    #expect(CFDataGetLength(data) == 3)
    #expect(unsafe CFDataGetBytePtr(data)[2] == 3)
    #expect(CFDataCreateCopy(nil, data) == data)
    #expect(CFGetTypeID(data) == CFDataGetTypeID())
  }

  @Test func `bytes of the caller are not freed with the null allocator`() {
    let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 4)
    unsafe bytes.initialize(repeating: 7, count: 4)
    do {
      let data = unsafe CFDataCreateWithBytesNoCopy(kCFAllocatorDefault, bytes, 4, kCFAllocatorNull)!
      #expect(data as Data == Data([7, 7, 7, 7]))
      // The bytes are not copied.
      #expect(unsafe CFDataGetBytePtr(data) == UnsafePointer(bytes))
    }
    #expect(unsafe bytes[3] == 7)
    unsafe bytes.deallocate()
  }

  @Test(arguments: [kCFAllocatorDefault, kCFAllocatorMalloc, kCFAllocatorSystemDefault])
  func `data owns bytes of malloc`(allocator: CFAllocator?) {
    let bytes = unsafe malloc(2)!.assumingMemoryBound(to: UInt8.self)
    unsafe (bytes[0], bytes[1]) = (1, 2)
    let data = unsafe CFDataCreateWithBytesNoCopy(nil, bytes, 2, allocator)!
    #expect(data as Data == Data([1, 2]))
  }

  @Test func `data without bytes is empty`() {
    #expect(CFDataCreate(nil, nil, 0).length == 0)
    #expect(CFDataCreateWithBytesNoCopy(nil, nil, 0, kCFAllocatorNull).length == 0)
    #expect(CFDataGetLength(nil) == 0)
  }

  @Test func `bytes are appended, replaced, removed and read`() throws {
    let data = try #require(CFDataCreateMutable(kCFAllocatorDefault, 0))
    #expect(CFDataGetLength(data) == 0)
    unsafe CFDataAppendBytes(data, [1, 2, 3, 4], 4)
    #expect(data as Data == Data([1, 2, 3, 4]))
    unsafe CFDataReplaceBytes(data, CFRangeMake(1, 2), [9], 1)
    #expect(data as Data == Data([1, 9, 4]))
    unsafe CFDataReplaceBytes(data, CFRange(location: 3, length: 0), [5, 6], 2)
    #expect(data as Data == Data([1, 9, 4, 5, 6]))
    CFDataDeleteBytes(data, CFRangeMake(0, 2))
    #expect(data as Data == Data([4, 5, 6]))
    var part: [UInt8] = [0, 0]
    unsafe CFDataGetBytes(data, CFRangeMake(1, 2), &part)
    #expect(part == [5, 6])
    unsafe CFDataGetMutableBytePtr(data)[0] = 8
    #expect(data as Data == Data([8, 5, 6]))
  }

  @Test func `bytes beyond the old length are zero`() {
    let data = unsafe CFDataCreateMutableCopy(nil, 0, CFDataCreate(nil, [1, 2], 2))!
    CFDataIncreaseLength(data, 2)
    #expect(data as Data == Data([1, 2, 0, 0]))
    CFDataSetLength(data, 1)
    CFDataSetLength(data, 3)
    #expect(data as Data == Data([1, 0, 0]))
    #expect(CFGetTypeID(data) == CFDataGetTypeID())
  }

  @Test func `data of these functions is the secret of an item`() throws {
    let world = try StandInWorld()
    defer { world.close() }
    let data = try #require(CFDataCreateMutable(nil, 0))
    unsafe CFDataAppendBytes(data, [1, 2], 2)
    let item: [CFString: Any] = [
      kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a", kSecValueData: data as CFData,
    ]
    #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
    let query: [CFString: Any] = [
      kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a", kSecReturnData: true,
    ]
    var found: CFTypeRef?
    #expect(unsafe SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess)
    #expect(found as? Data == Data([1, 2]))
  }

  @Test func `an error has the code, the domain and a copy of the details`() throws {
    let details = NSMutableDictionary(dictionary: [kCFErrorLocalizedDescriptionKey as NSString: "no store"])
    let error = try #require(
      CFErrorCreate(kCFAllocatorDefault, kCFErrorDomainOSStatus, CFIndex(errSecNotAvailable), details))
    details.removeAllObjects()
    #expect(CFErrorGetCode(error) == -25291)
    #expect(CFErrorGetDomain(error) as String == NSOSStatusErrorDomain)
    #expect(CFErrorCopyDescription(error) as String == "no store")
    #expect(CFErrorCopyUserInfo(error).count == 1)
    #expect(CFGetTypeID(error) == CFErrorGetTypeID())
    let bare = try #require(CFErrorCreate(nil, kCFErrorDomainCocoa, 1, nil))
    #expect(CFErrorCopyUserInfo(bare) == [:] as CFDictionary)
  }

  @Test func `the absolute time counts from 2001`() {
    let before = Date().timeIntervalSinceReferenceDate
    let time: CFAbsoluteTime = CFAbsoluteTimeGetCurrent()
    #expect(time >= before && time <= Date().timeIntervalSinceReferenceDate)
    #expect(kCFAbsoluteTimeIntervalSince1970 == 978_307_200)
  }

  @Test func `the null object has the type of null`() {
    #expect(CFGetTypeID(kCFNull) == CFNullGetTypeID())
    #expect(CFEqual(kCFNull, NSNull()))
  }

  @Test func `the keys of a bundle are Apple's`() {
    let keys = [
      kCFBundleVersionKey, kCFBundleNameKey, kCFBundleExecutableKey, kCFBundleInfoDictionaryVersionKey,
      kCFBundleDevelopmentRegionKey, kCFBundleLocalizationsKey,
    ].map { $0! as String }
    #expect(
      keys == [
        "CFBundleVersion", "CFBundleName", "CFBundleExecutable", "CFBundleInfoDictionaryVersion",
        "CFBundleDevelopmentRegion", "CFBundleLocalizations",
      ])
  }
}
