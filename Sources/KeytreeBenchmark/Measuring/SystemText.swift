internal import Glibc

/// The messages of the C library for error numbers.
enum SystemText {
  /// Returns the message for an error number (`strerror(3)`).
  static func of(_ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}
