public import Foundation

/// Returns one English sentence that describes a status.
///
/// If the store could not be used, the sentence contains the cause of the last failure with this status in the process,
/// and the path of the store: "No usable keychain is available: there is no store in /srv/mailer."
///
/// - Parameters:
///   - status: The status of a call.
///   - reserved: Not used; nil.
/// - Returns: The sentence, or `OSStatus` and the number for a code that has none.
@safe public func SecCopyErrorMessageString(
  _ status: OSStatus, _ reserved: UnsafeMutableRawPointer?
) -> CFString? {
  guard let message = messagesOfStatuses[status] else { return "OSStatus \(status)" as CFString }
  guard let cause = KeychainSession.shared.cause(of: status) else { return message as CFString }
  return "\(message.dropLast()): \(cause)." as CFString
}
