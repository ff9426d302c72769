// The CoreFoundation names that code for Apple's keychain uses, as Foundation classes. On Linux, Swift's dictionaries,
// strings and data bridge to these classes, but not to the C types of CoreFoundation.

public import Foundation

/// Any object; the type of results.
public typealias CFTypeRef = AnyObject
/// A string.
public typealias CFString = NSString
/// A dictionary, such as a query.
public typealias CFDictionary = NSDictionary
/// A dictionary that can be changed.
public typealias CFMutableDictionary = NSMutableDictionary
/// An array.
public typealias CFArray = NSArray
/// Bytes.
public typealias CFData = NSData
/// Bytes that can be changed.
public typealias CFMutableData = NSMutableData
/// A date.
public typealias CFDate = NSDate
/// A number.
public typealias CFNumber = NSNumber
/// A Boolean.
public typealias CFBoolean = NSNumber
/// An error.
public typealias CFError = NSError
/// The null object.
public typealias CFNull = NSNull
/// A position or a count.
public typealias CFIndex = Int
/// A set of flags.
public typealias CFOptionFlags = UInt
/// A type ID.
public typealias CFTypeID = UInt
/// A duration in seconds.
public typealias CFTimeInterval = Double
/// A time in seconds since 1 January 2001, 00:00 UTC.
public typealias CFAbsoluteTime = CFTimeInterval
/// A code of four characters, the first in the highest byte; the type of `kSecAttrCreator` and `kSecAttrType`.
public typealias FourCharCode = UInt32
/// The type or the creator of a file.
public typealias OSType = FourCharCode
/// An allocator. Objects always have the memory that Foundation gives them; an allocator only determines what frees the
/// bytes of ``CFDataCreateWithBytesNoCopy(_:_:_:_:)``. A program cannot make one.
public final class CFAllocator: Sendable {
  fileprivate init() {}
}

/// The default allocator, whose memory is that of `malloc(3)`.
public let kCFAllocatorDefault: CFAllocator? = nil
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The allocator of the system; the same as the default.
public let kCFAllocatorSystemDefault: CFAllocator! = CFAllocator()
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The allocator for memory of `malloc(3)`.
public let kCFAllocatorMalloc: CFAllocator! = CFAllocator()
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The allocator that frees nothing, for bytes that the caller frees.
public let kCFAllocatorNull: CFAllocator! = CFAllocator()

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The Boolean true. It is implicitly unwrapped like Apple's, so that `kCFBooleanTrue!` compiles as well.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The Boolean false.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The null object. On Linux, Foundation makes others, too; they are equal to this one by ``CFEqual(_:_:)``.
public let kCFNull: CFNull! = NSNull()

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The key of a bundle's identifier in its `Info.plist`. Programs use the identifier as a service or an access group.
@safe public nonisolated(unsafe) let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier"
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The key of the version of the format of an `Info.plist`, in a bundle's `Info.plist`.
@safe public nonisolated(unsafe) let kCFBundleInfoDictionaryVersionKey: CFString! =
  "CFBundleInfoDictionaryVersion"
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The key of the name of a bundle's executable, in a bundle's `Info.plist`.
@safe public nonisolated(unsafe) let kCFBundleExecutableKey: CFString! = "CFBundleExecutable"
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The key of the version of a build, in a bundle's `Info.plist`.
@safe public nonisolated(unsafe) let kCFBundleVersionKey: CFString! = "CFBundleVersion"
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The key of a bundle's first language, in a bundle's `Info.plist`.
@safe public nonisolated(unsafe) let kCFBundleDevelopmentRegionKey: CFString! = "CFBundleDevelopmentRegion"
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The key of the short name of a bundle, in a bundle's `Info.plist`.
@safe public nonisolated(unsafe) let kCFBundleNameKey: CFString! = "CFBundleName"
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The key of the languages of a bundle, in a bundle's `Info.plist`.
@safe public nonisolated(unsafe) let kCFBundleLocalizationsKey: CFString! = "CFBundleLocalizations"
