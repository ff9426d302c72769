package import Secrets

/// One message of native messaging: its length in the first four bytes, in the byte order of the machine, and then JSON
/// in UTF-8 (<https://developer.chrome.com/docs/extensions/develop/concepts/native-messaging>).
package enum NativeFrame {
  /// The number of bytes of the length.
  package static let headerSize = 4
  /// The largest request in bytes. A browser sends up to 64 MiB, but no request of the extension is that large.
  package static let requestLimit = 8 << 20
  /// The largest answer in bytes. A browser closes the pipe if an answer is larger.
  package static let answerLimit = 1 << 20
  /// The time within which a request must be complete after its first byte, in seconds.
  package static let patience = 10.0

  /// Returns the length of the message after a header; nil if the header is incomplete.
  ///
  /// - Parameter header: The first four bytes of a frame.
  package static func length(_ header: borrowing SecretBytes) -> Int? {
    guard header.count == headerSize else { return nil }
    return unsafe header.withBytes { Int(unsafe $0.loadUnaligned(as: UInt32.self)) }
  }

  /// Returns a frame with a message.
  ///
  /// - Parameter message: JSON of at most `answerLimit` bytes.
  package static func frame(_ message: borrowing SecretBytes) -> SecretBytes {
    var frame = SecretBytes(capacity: headerSize + message.count)
    unsafe withUnsafeBytes(of: UInt32(message.count)) { unsafe frame.append(contentsOf: $0) }
    frame.append(message)
    return frame
  }
}
