internal import Glibc

/// A source of random bytes; there is but the default one.
public typealias SecRandomRef = OpaquePointer

/// The default source, `getentropy(3)`.
@safe public nonisolated(unsafe) let kSecRandomDefault: SecRandomRef? = nil

/// Fills memory with random bytes that nobody can predict.
///
/// - Parameters:
///   - rnd: `kSecRandomDefault`; there is no other source.
///   - count: How many bytes, at most 2^31 - 1.
///   - bytes: Room for that many.
/// - Returns: `errSecSuccess`; `errSecParam` for a negative or greater count; `errSecNotAvailable` when the system
///   gives none. Unless it is `errSecSuccess`, nothing may be made of the bytes.
@discardableResult
public func SecRandomCopyBytes(_ rnd: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32
{
  guard count >= 0, count <= Int(Int32.max) else { return errSecParam }
  var filled = 0
  while filled < count {
    // The call gives at most so much at a time.
    let part = min(256, count - filled)
    guard unsafe getentropy(bytes + filled, part) == 0 else { return errSecNotAvailable }
    filled += part
  }
  return errSecSuccess
}
