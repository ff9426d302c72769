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
/// A code of four characters, the first in the highest byte; the type of `kSecAttrCreator` and `kSecAttrType`.
public typealias FourCharCode = UInt32
/// The type or the creator of a file.
public typealias OSType = FourCharCode
/// An allocator. There is only one, and a program cannot make another.
public final class CFAllocator: Sendable {
  private init() {}
}

/// The default allocator, which is the only one.
public let kCFAllocatorDefault: CFAllocator? = nil
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The Boolean true. It is implicitly unwrapped like Apple's, so that `kCFBooleanTrue!` compiles as well.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The Boolean false.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The key of a bundle's identifier in its `Info.plist`. Programs use the identifier as a service or an access group.
@safe public nonisolated(unsafe) let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier"
