// The names that code for Apple's keychain takes from CoreFoundation, as Foundation's classes: those bridge from
// Swift's own dictionaries, strings and data on Linux, which the C types of CoreFoundation do not.

public import Foundation

/// Any object; what results come back as.
public typealias CFTypeRef = AnyObject
/// Text.
public typealias CFString = NSString
/// A dictionary, such as a query.
public typealias CFDictionary = NSDictionary
/// A dictionary that can be changed.
public typealias CFMutableDictionary = NSMutableDictionary
/// A list.
public typealias CFArray = NSArray
/// Bytes.
public typealias CFData = NSData
/// A moment.
public typealias CFDate = NSDate
/// A number.
public typealias CFNumber = NSNumber
/// A yes or no.
public typealias CFBoolean = NSNumber
/// An error.
public typealias CFError = NSError
/// Nothing, as an object.
public typealias CFNull = NSNull
/// A position or a count.
public typealias CFIndex = Int
/// Bits that mean something each.
public typealias CFOptionFlags = UInt
/// The number of a type.
public typealias CFTypeID = UInt
/// An allocator. There is only one, and a program cannot make another.
public final class CFAllocator: Sendable {
  private init() {}
}

/// The default allocator, which is the only one.
public let kCFAllocatorDefault: CFAllocator? = nil
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Yes; implicitly unwrapped as Apple's is, so that `kCFBooleanTrue!` compiles as well.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// No.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)
