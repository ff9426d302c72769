internal import Glibc

/// What the C library says about an error number.
enum SystemText {
  /// The words for an error number (strerror).
  static func of(_ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}
