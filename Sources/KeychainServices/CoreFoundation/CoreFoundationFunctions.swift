// The functions of CoreFoundation that code for Apple's keychain calls. Retaining and releasing are not among
// them: Swift does both by itself, and Apple does not let Swift call them either.

public import Foundation

/// A class of this module that tells ``CFGetTypeID(_:)`` its own number.
protocol CoreFoundationType: AnyObject {
  /// The number of the class, above those of ``CoreFoundationTypeID``.
  static var typeID: CFTypeID { get }
}

/// The numbers of Foundation's types. They hold within one process only and are not Apple's, which differ
/// from system to system too.
enum CoreFoundationTypeID: CFTypeID {
  /// Numbers start at 1: zero is no type.
  case string = 1
  case dictionary, array, data, date, boolean, number, error, null

  /// The type of an object, nil for objects of other classes.
  ///
  /// - Parameter object: Any object.
  init?(of object: CFTypeRef) {
    switch object {
    case is NSString: self = .string
    case is NSDictionary: self = .dictionary
    case is NSArray: self = .array
    case is NSData: self = .data
    case is NSDate: self = .date
    // One class on Linux; only booleans say that they are a C `char`, as numbers from an `Int8` do not.
    case let number as NSNumber: self = number.isBoolean ? .boolean : .number
    case is NSError: self = .error
    case is NSNull: self = .null
    default: return nil
    }
  }
}

extension NSNumber {
  /// A Boolean value that indicates whether the number was made from a `Bool`.
  var isBoolean: Bool {
    unsafe objCType.pointee == CChar(UInt8(ascii: "c"))
  }
}

/// The number of an object's type, to be compared with ``CFStringGetTypeID()`` and its like.
///
/// - Parameter object: The object. Apple's function traps for nil, this one does not.
/// - Returns: The number of its type, zero for nil and for objects of other classes.
public func CFGetTypeID(_ object: CFTypeRef?) -> CFTypeID {
  guard let object else { return 0 }
  if let object = object as? any CoreFoundationType { return type(of: object).typeID }
  return CoreFoundationTypeID(of: object)?.rawValue ?? 0
}

/// The number of the type of texts.
public func CFStringGetTypeID() -> CFTypeID { CoreFoundationTypeID.string.rawValue }
/// The number of the type of dictionaries.
public func CFDictionaryGetTypeID() -> CFTypeID { CoreFoundationTypeID.dictionary.rawValue }
/// The number of the type of lists.
public func CFArrayGetTypeID() -> CFTypeID { CoreFoundationTypeID.array.rawValue }
/// The number of the type of bytes.
public func CFDataGetTypeID() -> CFTypeID { CoreFoundationTypeID.data.rawValue }
/// The number of the type of moments.
public func CFDateGetTypeID() -> CFTypeID { CoreFoundationTypeID.date.rawValue }
/// The number of the type of booleans, which is not that of numbers though both are one class here.
public func CFBooleanGetTypeID() -> CFTypeID { CoreFoundationTypeID.boolean.rawValue }
/// The number of the type of numbers.
public func CFNumberGetTypeID() -> CFTypeID { CoreFoundationTypeID.number.rawValue }
/// The number of the type of errors.
public func CFErrorGetTypeID() -> CFTypeID { CoreFoundationTypeID.error.rawValue }
/// The number of the type of nothing.
public func CFNullGetTypeID() -> CFTypeID { CoreFoundationTypeID.null.rawValue }

/// Returns true if two objects are equal.
///
/// - Parameters:
///   - first: An object.
///   - second: Another object.
/// - Returns: Whether they are one object, or of equal type and content.
public func CFEqual(_ first: CFTypeRef?, _ second: CFTypeRef?) -> Bool {
  guard let first, let second else { return first == nil && second == nil }
  if first === second { return true }
  // True equals 1 in Foundation but not in CoreFoundation.
  guard CFGetTypeID(first) == CFGetTypeID(second), let first = first as? NSObject else { return false }
  return first.isEqual(second)
}

/// The kind of an error, such as ``kCFErrorDomainOSStatus``.
public typealias CFErrorDomain = CFString

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The domain of errors whose code is an ``OSStatus``; Foundation's `NSOSStatusErrorDomain`.
@safe public nonisolated(unsafe) let kCFErrorDomainOSStatus: CFErrorDomain! =
  NSOSStatusErrorDomain as CFString
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The domain of errors whose code is an `errno`; Foundation's `NSPOSIXErrorDomain`.
@safe public nonisolated(unsafe) let kCFErrorDomainPOSIX: CFErrorDomain! = NSPOSIXErrorDomain as CFString

/// The code of an error.
///
/// - Parameter error: The error. Apple's function traps for nil, this one does not.
/// - Returns: Its code, an ``OSStatus`` if the domain is ``kCFErrorDomainOSStatus``; zero for nil.
public func CFErrorGetCode(_ error: CFError?) -> CFIndex {
  error?.code ?? 0
}

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The domain of an error.
///
/// - Parameter error: The error. Apple's function traps for nil, this one does not.
/// - Returns: Its domain, nil for nil.
public func CFErrorGetDomain(_ error: CFError?) -> CFErrorDomain! {
  error.map { $0.domain as CFErrorDomain }
}

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// An error in words for people.
///
/// - Parameter error: The error. Apple's function traps for nil, this one does not.
/// - Returns: Its description, nil for nil.
public func CFErrorCopyDescription(_ error: CFError?) -> CFString! {
  error.map { $0.localizedDescription as CFString }
}
