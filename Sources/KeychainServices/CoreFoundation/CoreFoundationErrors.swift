// The errors of CoreFoundation, as Foundation's class.

public import Foundation

/// The domain of an error, such as ``kCFErrorDomainOSStatus``.
public typealias CFErrorDomain = CFString

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The domain of errors whose code is an ``OSStatus``; Foundation's `NSOSStatusErrorDomain`.
@safe public nonisolated(unsafe) let kCFErrorDomainOSStatus: CFErrorDomain! =
  NSOSStatusErrorDomain as CFString
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The domain of errors whose code is an `errno`; Foundation's `NSPOSIXErrorDomain`.
@safe public nonisolated(unsafe) let kCFErrorDomainPOSIX: CFErrorDomain! = NSPOSIXErrorDomain as CFString

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The domain of errors of Foundation; its `NSCocoaErrorDomain`.
@safe public nonisolated(unsafe) let kCFErrorDomainCocoa: CFErrorDomain! = NSCocoaErrorDomain as CFString

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The key of the description for the user in the details of an error; Foundation's `NSLocalizedDescriptionKey`.
@safe public nonisolated(unsafe) let kCFErrorLocalizedDescriptionKey: CFString! =
  NSLocalizedDescriptionKey as CFString
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The key of the reason for the user; Foundation's `NSLocalizedFailureReasonErrorKey`.
@safe public nonisolated(unsafe) let kCFErrorLocalizedFailureReasonKey: CFString! =
  NSLocalizedFailureReasonErrorKey as CFString
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The key of the error that caused this one; Foundation's `NSUnderlyingErrorKey`.
@safe public nonisolated(unsafe) let kCFErrorUnderlyingErrorKey: CFString! = NSUnderlyingErrorKey as CFString

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Creates an error.
///
/// - Parameters:
///   - allocator: Not used.
///   - domain: The domain. Apple leaves the result for nil undefined; here it is the empty domain.
///   - code: The code.
///   - userInfo: The details by their keys, which are strings; nil for none. The dictionary is copied. Entries with other
///     keys, whose effect Apple leaves undefined, are left out.
/// - Returns: The error.
public func CFErrorCreate(
  _ allocator: CFAllocator?, _ domain: CFErrorDomain?, _ code: CFIndex, _ userInfo: CFDictionary?
) -> CFError! {
  var details: [String: Any] = [:]
  for (key, value) in userInfo?.unbridgedEntries ?? [] {
    guard let key = (key as? String) ?? (key as? NSString).map({ $0 as String }) else { continue }
    // Foundation looks for descriptions that are Swift strings.
    details[key] = (value as? NSString).map { $0 as String } ?? value
  }
  return CFError(domain: domain.map { $0 as String } ?? "", code: code, userInfo: details)
}

/// Returns the code of an error.
///
/// - Parameter error: The error. Apple's function traps for nil, this one does not.
/// - Returns: Its code, an ``OSStatus`` if the domain is ``kCFErrorDomainOSStatus``; zero for nil.
public func CFErrorGetCode(_ error: CFError?) -> CFIndex {
  error?.code ?? 0
}

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Returns the domain of an error.
///
/// - Parameter error: The error. Apple's function traps for nil, this one does not.
/// - Returns: Its domain, nil for nil.
public func CFErrorGetDomain(_ error: CFError?) -> CFErrorDomain! {
  error.map { $0.domain as CFErrorDomain }
}

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Returns the details of an error.
///
/// - Parameter error: The error. Apple's function traps for nil, this one does not.
/// - Returns: Its details by their keys, empty if it has none; nil for nil.
public func CFErrorCopyUserInfo(_ error: CFError?) -> CFDictionary! {
  error.map { NSDictionary(dictionary: $0.userInfo) }
}

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Returns the description of an error for the user.
///
/// - Parameter error: The error. Apple's function traps for nil, this one does not.
/// - Returns: Its description, nil for nil.
public func CFErrorCopyDescription(_ error: CFError?) -> CFString! {
  error.map { $0.localizedDescription as CFString }
}
