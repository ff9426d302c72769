import Foundation
import KeychainServices

/// Calls a function that says in Apple's manner why it failed.
///
/// - Parameter body: The call, with the pointer to hand to it.
/// - Returns: What it returned, and the error that it set.
@safe func takingError<Result>(
  _ body: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> Result
) -> (result: Result, error: NSError?) {
  var error: Unmanaged<CFError>?
  let result = unsafe withUnsafeMutablePointer(to: &error) { unsafe body($0) }
  return unsafe (result, error?.takeRetainedValue())
}
