// The functions of CoreFoundation for bytes, as methods of Foundation's classes. Ranges and lengths must be valid, as on
// Apple's systems.

public import Foundation

/// A range of bytes.
public struct CFRange: Equatable, Sendable {
  /// The first position.
  public var location: CFIndex
  /// The number of bytes.
  public var length: CFIndex

  /// Creates an empty range at the position 0.
  public init() { self.init(location: 0, length: 0) }

  /// Creates a range.
  public init(location: CFIndex, length: CFIndex) { (self.location, self.length) = (location, length) }

  fileprivate var foundation: NSRange { NSRange(location: location, length: length) }
}

/// Creates a range.
///
/// - Parameters:
///   - location: The first position.
///   - length: The number of bytes.
public func CFRangeMake(_ location: CFIndex, _ length: CFIndex) -> CFRange {
  CFRange(location: location, length: length)
}

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Creates data with a copy of bytes.
///
/// - Parameters:
///   - allocator: Not used.
///   - bytes: The bytes; nil only if there are none.
///   - length: The number of bytes.
public func CFDataCreate(
  _ allocator: CFAllocator?, _ bytes: UnsafePointer<UInt8>?, _ length: CFIndex
) -> CFData! {
  unsafe NSData(bytes: bytes, length: length)
}

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Creates data with bytes that are not copied, and frees them when the data is released.
///
/// - Parameters:
///   - allocator: Not used.
///   - bytes: The bytes. They must not change while the data exists.
///   - length: The number of bytes.
///   - bytesDeallocator: ``kCFAllocatorNull`` if the caller frees the bytes after the data. With any other allocator, also
///     with nil, the bytes must have been allocated with `malloc(3)`, and are freed.
public func CFDataCreateWithBytesNoCopy(
  _ allocator: CFAllocator?, _ bytes: UnsafePointer<UInt8>?, _ length: CFIndex,
  _ bytesDeallocator: CFAllocator?
) -> CFData! {
  guard let bytes = unsafe bytes else { return NSData() }
  return unsafe NSData(
    bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes), length: length,
    freeWhenDone: bytesDeallocator !== kCFAllocatorNull)
}

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Creates a copy of data.
///
/// - Parameters:
///   - allocator: Not used.
///   - theData: The data. Apple's function traps for nil, this one returns nil.
public func CFDataCreateCopy(_ allocator: CFAllocator?, _ theData: CFData?) -> CFData! {
  theData.map { NSData(data: $0 as Data) }
}

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Creates empty data that can be changed.
///
/// - Parameters:
///   - allocator: Not used.
///   - capacity: The number of bytes for which memory is reserved. More can be added; Apple's documentation makes it the
///     limit unless it is 0.
public func CFDataCreateMutable(_ allocator: CFAllocator?, _ capacity: CFIndex) -> CFMutableData! {
  NSMutableData(capacity: capacity)
}

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Creates a copy of data that can be changed.
///
/// - Parameters:
///   - allocator: Not used.
///   - capacity: Not used; see ``CFDataCreateMutable(_:_:)``.
///   - theData: The data. Apple's function traps for nil, this one returns nil.
public func CFDataCreateMutableCopy(
  _ allocator: CFAllocator?, _ capacity: CFIndex, _ theData: CFData?
) -> CFMutableData! {
  theData.map { NSMutableData(data: $0 as Data) }
}

/// Returns the number of bytes; 0 for nil, for which Apple's function traps.
public func CFDataGetLength(_ theData: CFData?) -> CFIndex { theData?.length ?? 0 }

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Returns the bytes. The pointer is valid as long as the data exists and is not changed.
///
/// - Parameter theData: The data.
/// - Returns: The first byte; nil for nil.
public func CFDataGetBytePtr(_ theData: CFData?) -> UnsafePointer<UInt8>! {
  unsafe theData.map { unsafe $0.bytes.assumingMemoryBound(to: UInt8.self) }
}

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Returns the bytes, which can be changed. The pointer is valid as long as the data exists and its length is the same.
///
/// - Parameter theData: The data.
/// - Returns: The first byte; nil for nil.
public func CFDataGetMutableBytePtr(_ theData: CFMutableData?) -> UnsafeMutablePointer<UInt8>! {
  unsafe theData.map { unsafe $0.mutableBytes.assumingMemoryBound(to: UInt8.self) }
}

/// Copies a part of the bytes.
///
/// - Parameters:
///   - theData: The data.
///   - range: The part.
///   - buffer: The memory for the bytes of the part.
public func CFDataGetBytes(_ theData: CFData?, _ range: CFRange, _ buffer: UnsafeMutablePointer<UInt8>?) {
  guard let buffer = unsafe buffer else { return }
  unsafe theData?.getBytes(buffer, range: range.foundation)
}

/// Sets the number of bytes. New bytes are zero.
///
/// - Parameters:
///   - theData: The data.
///   - length: The new number.
public func CFDataSetLength(_ theData: CFMutableData?, _ length: CFIndex) { theData?.length = length }

/// Adds bytes that are zero.
///
/// - Parameters:
///   - theData: The data.
///   - extraLength: The number of bytes to add.
public func CFDataIncreaseLength(_ theData: CFMutableData?, _ extraLength: CFIndex) {
  theData?.increaseLength(by: extraLength)
}

/// Adds bytes.
///
/// - Parameters:
///   - theData: The data.
///   - bytes: The bytes.
///   - length: Their number.
public func CFDataAppendBytes(
  _ theData: CFMutableData?, _ bytes: UnsafePointer<UInt8>?, _ length: CFIndex
) {
  guard let bytes = unsafe bytes else { return }
  unsafe theData?.append(bytes, length: length)
}

/// Replaces a part of the bytes by bytes of any number.
///
/// - Parameters:
///   - theData: The data.
///   - range: The part; empty to insert.
///   - newBytes: The new bytes; nil only if there are none.
///   - newLength: Their number.
public func CFDataReplaceBytes(
  _ theData: CFMutableData?, _ range: CFRange, _ newBytes: UnsafePointer<UInt8>?, _ newLength: CFIndex
) {
  unsafe theData?.replaceBytes(in: range.foundation, withBytes: newBytes, length: newLength)
}

/// Removes a part of the bytes.
///
/// - Parameters:
///   - theData: The data.
///   - range: The part.
public func CFDataDeleteBytes(_ theData: CFMutableData?, _ range: CFRange) {
  unsafe theData?.replaceBytes(in: range.foundation, withBytes: nil, length: 0)
}
