internal import Glibc

/// A source of random bytes; only the default one exists.
public typealias SecRandomRef = OpaquePointer

/// The default source, `getentropy(3)`.
@safe public nonisolated(unsafe) let kSecRandomDefault: SecRandomRef? = nil

/// Fills memory with unpredictable random bytes.
///
/// - Parameters:
///   - rnd: `kSecRandomDefault`; there is no other source.
///   - count: The number of bytes, at most 2^31 - 1.
///   - bytes: The memory to fill.
/// - Returns: `errSecSuccess`; `errSecParam` for a negative or greater count; `errSecNotAvailable` if the system
///   returns none. The bytes must not be used unless the result is `errSecSuccess`.
@discardableResult
public func SecRandomCopyBytes(_ rnd: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32
{
  guard count >= 0, count <= Int(Int32.max) else { return errSecParam }
  var filled = 0
  while filled < count {
    // getentropy(3) returns at most 256 bytes per call.
    let part = min(256, count - filled)
    guard unsafe getentropy(bytes + filled, part) == 0 else { return errSecNotAvailable }
    filled += part
  }
  return errSecSuccess
}
