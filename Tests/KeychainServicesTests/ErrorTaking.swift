import Foundation
import KeychainServices

/// Calls a function that reports its error through a pointer, as Apple's functions do.
///
/// - Parameter body: The call, with the pointer to pass to it.
/// - Returns: The result, and the error that the function has set.
@safe func takingError<Result>(
  _ body: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> Result
) -> (result: Result, error: NSError?) {
  var error: Unmanaged<CFError>?
  let result = unsafe withUnsafeMutablePointer(to: &error) { unsafe body($0) }
  return unsafe (result, error?.takeRetainedValue())
}
