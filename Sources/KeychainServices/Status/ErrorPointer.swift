internal import Foundation

/// The way in which functions of Apple's style report errors.
enum ErrorPointer {
  /// The error that stands for a status.
  ///
  /// - Parameters:
  ///   - status: The code; its domain is that of `OSStatus`.
  ///   - reason: What was wrong, for people; never a secret.
  static func error(_ status: OSStatus, _ reason: String) -> CFError {
    NSError(
      domain: NSOSStatusErrorDomain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: reason])
  }

  /// Hands an error to the caller, who releases it.
  ///
  /// - Parameters:
  ///   - pointer: Where the caller wants it; nil when not.
  ///   - status: The code.
  ///   - reason: What was wrong, for people; never a secret.
  static func report(
    _ pointer: UnsafeMutablePointer<Unmanaged<CFError>?>?, _ status: OSStatus, _ reason: String
  ) {
    unsafe pointer?.pointee = Unmanaged.passRetained(error(status, reason))
  }
}
