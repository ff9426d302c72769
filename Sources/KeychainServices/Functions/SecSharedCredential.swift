internal import Dispatch
public import Foundation

/// Key: the password in an entry of the result of ``SecRequestSharedWebCredential(_:_:_:)``.
@safe public nonisolated(unsafe) let kSecSharedPassword: CFString = "spwd"

/// Stores a password that a website shares with its application; not implemented.
///
/// The association of websites with applications is a service of Apple's systems. Use ``SecItemAdd(_:_:)`` with
/// `kSecClassInternetPassword`.
///
/// - Parameters:
///   - fqdn: The domain name of the website.
///   - account: The account.
///   - password: The password; nil removes the stored one.
///   - completionHandler: Receives an error with `errSecUnimplemented`, on another thread.
public func SecAddSharedWebCredential(
  _ fqdn: CFString, _ account: CFString, _ password: CFString?,
  _ completionHandler: @escaping (CFError?) -> Void
) {
  refuse { completionHandler($0) }
}

/// Asks the user for a password that a website shares with its application; not implemented.
///
/// - Parameters:
///   - fqdn: The domain name of the website; nil for all associated websites.
///   - account: The account; nil for all.
///   - completionHandler: Receives no credentials and an error with `errSecUnimplemented`, on another thread.
public func SecRequestSharedWebCredential(
  _ fqdn: CFString?, _ account: CFString?, _ completionHandler: @escaping (CFArray?, CFError?) -> Void
) {
  refuse { completionHandler(nil, $0) }
}

/// Returns a random password that is suitable for a shared web credential.
///
/// - Returns: Twelve letters and digits in groups of three (`abc-def-ghi-jkl`), as on Apple's systems: about 68 bits.
///   Characters that are easily confused are left out.
public func SecCreateSharedWebCredentialPassword() -> CFString? {
  let characters = Array("abcdefghkmnopqrstuvwxy3456789ABCDEFGHJKLMNPQRSTUVWXYZ")
  var generator = SystemRandomNumberGenerator()
  let groups = (0..<4).map { _ in
    String((0..<3).map { _ in characters[Int.random(in: characters.indices, using: &generator)] })
  }
  return groups.joined(separator: "-") as CFString
}

/// Reports to a completion handler that its function is not implemented.
private func refuse(_ completionHandler: @escaping (CFError) -> Void) {
  // Apple's handlers are called on another thread as well, without being marked as sendable.
  nonisolated(unsafe) let completionHandler = completionHandler
  DispatchQueue.global().async {
    unsafe completionHandler(
      ErrorPointer.error(errSecUnimplemented, "Shared web credentials are not available on this system."))
  }
}
