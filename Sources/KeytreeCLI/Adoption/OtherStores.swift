internal import CommandSupport
internal import Keyring
internal import Terminal

/// The stores of this user besides the one that a command uses: those in the settings, and the one in the folder for
/// data.
struct OtherStores {
  private let call: CommandCall

  init(_ call: CommandCall) { self.call = call }

  /// Returns the path of the store that has an encrypted file, perhaps with other recipients before it; nil if none of
  /// them has it.
  ///
  /// - Parameters:
  ///   - message: The bytes of the file.
  ///   - keyring: A keyring, to parse the bytes.
  func path(containing message: [UInt8], known keyring: Keyring) -> String? {
    guard let wanted = keyring.storedMessage(message, at: "")?.container else { return nil }
    let own = RealPath.of(keyring.path) ?? keyring.path
    return paths.first { path in
      // A store that cannot be opened is only not named.
      guard (RealPath.of(path) ?? path) != own,
        let other = try? Keyring.open(at: path, host: call.host()), let messages = try? other.storedMessages()
      else { return false }
      return messages.contains { $0.container == wanted }
    }
  }

  private var paths: [String] {
    // Without settings, there is only the store in the folder for data.
    let settings = (try? call.configuration()) ?? Configuration()
    let named = settings.settings.compactMap { setting -> String? in
      guard case .store(let name) = setting else { return nil }
      // A folder that cannot be named belongs to no store.
      return try? call.environment.storePath(option: name) { settings }
    }
    return named + [call.environment.dataHome.map { "\($0)/keytree" }].compactMap { $0 }
  }
}
