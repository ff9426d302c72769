internal import Foundation

/// Error reporting in the style of Apple's functions.
enum ErrorPointer {
  /// Returns the error for a status.
  ///
  /// - Parameters:
  ///   - status: The code; its domain is that of `OSStatus`.
  ///   - reason: The description for the user; never contains a secret.
  static func error(_ status: OSStatus, _ reason: String) -> CFError {
    NSError(
      domain: NSOSStatusErrorDomain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: reason])
  }

  /// Passes an error to the caller, which has to release it.
  ///
  /// - Parameters:
  ///   - pointer: The destination of the error; nil if the caller does not want it.
  ///   - status: The code.
  ///   - reason: The description for the user; never contains a secret.
  static func report(
    _ pointer: UnsafeMutablePointer<Unmanaged<CFError>?>?, _ status: OSStatus, _ reason: String
  ) {
    unsafe pointer?.pointee = Unmanaged.passRetained(error(status, reason))
  }
}
