// The CoreFoundation functions that code for Apple's keychain calls. Retain and release are not included: Swift manages
// memory itself, and Apple does not let Swift code call them either.

internal import Foundation

/// A class of this module with its own type ID for ``CFGetTypeID(_:)``.
protocol CoreFoundationType: AnyObject {
  /// The type ID of the class, above those of ``CoreFoundationTypeID``.
  static var typeID: CFTypeID { get }
}

/// The type IDs of Foundation's types. They are valid only within one process. They are not Apple's type IDs, which
/// also differ between systems.
enum CoreFoundationTypeID: CFTypeID {
  /// Type IDs start at 1; zero is not a type.
  case string = 1
  case dictionary, array, data, date, boolean, number, error, null

  /// Finds the type of an object; nil for objects of other classes.
  ///
  /// - Parameter object: Any object.
  init?(of object: CFTypeRef) {
    switch object {
    case is NSString: self = .string
    case is NSDictionary: self = .dictionary
    case is NSArray: self = .array
    case is NSData: self = .data
    case is NSDate: self = .date
    // Booleans and numbers are one class on Linux. Only a Boolean has the type of a C `char`; a number made from an
    // `Int8` does not.
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

/// Returns the type ID of an object, to be compared with ``CFStringGetTypeID()`` and similar functions.
///
/// - Parameter object: The object. Apple's function traps for nil, this one does not.
/// - Returns: The type ID; zero for nil and for objects of other classes.
public func CFGetTypeID(_ object: CFTypeRef?) -> CFTypeID {
  guard let object else { return 0 }
  if let object = object as? any CoreFoundationType { return type(of: object).typeID }
  return CoreFoundationTypeID(of: object)?.rawValue ?? 0
}

/// Returns the type ID of strings.
public func CFStringGetTypeID() -> CFTypeID { CoreFoundationTypeID.string.rawValue }
/// Returns the type ID of dictionaries.
public func CFDictionaryGetTypeID() -> CFTypeID { CoreFoundationTypeID.dictionary.rawValue }
/// Returns the type ID of arrays.
public func CFArrayGetTypeID() -> CFTypeID { CoreFoundationTypeID.array.rawValue }
/// Returns the type ID of data.
public func CFDataGetTypeID() -> CFTypeID { CoreFoundationTypeID.data.rawValue }
/// Returns the type ID of dates.
public func CFDateGetTypeID() -> CFTypeID { CoreFoundationTypeID.date.rawValue }
/// Returns the type ID of Booleans, which differs from that of numbers although both are one class here.
public func CFBooleanGetTypeID() -> CFTypeID { CoreFoundationTypeID.boolean.rawValue }
/// Returns the type ID of numbers.
public func CFNumberGetTypeID() -> CFTypeID { CoreFoundationTypeID.number.rawValue }
/// Returns the type ID of errors.
public func CFErrorGetTypeID() -> CFTypeID { CoreFoundationTypeID.error.rawValue }
/// Returns the type ID of the null object.
public func CFNullGetTypeID() -> CFTypeID { CoreFoundationTypeID.null.rawValue }

/// Returns true if two objects are equal.
///
/// - Parameters:
///   - first: An object.
///   - second: Another object.
/// - Returns: True if they are the same object, or if their types and contents are equal.
public func CFEqual(_ first: CFTypeRef?, _ second: CFTypeRef?) -> Bool {
  guard let first, let second else { return first == nil && second == nil }
  if first === second { return true }
  // True equals 1 in Foundation but not in CoreFoundation.
  guard CFGetTypeID(first) == CFGetTypeID(second), let first = first as? NSObject else { return false }
  return first.isEqual(second)
}

/// Returns the current time.
///
/// - Returns: The seconds since 1 January 2001, 00:00 UTC. The clock can be set, so a later call can return less.
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime { Date.timeIntervalSinceReferenceDate }

/// The seconds from 1 January 1970 to 1 January 2001.
public let kCFAbsoluteTimeIntervalSince1970: CFTimeInterval = Date.timeIntervalBetween1970AndReferenceDate
