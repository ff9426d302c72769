internal import CommandSupport

/// The effects of a gpg.conf on Keytree.
///
/// Keytree runs gpg in a private home, so the user's file does not affect what Keytree writes. `doctor` reports options
/// that therefore have no effect, and options that are dangerous in other programs. Every gpg reads the machine's file.
enum GnuPGConfiguration {
  /// The owner of the file.
  enum Owner { case user, machine }

  /// Returns the diagnoses of a file.
  static func examine(_ text: String, path: String, owner: Owner) -> [Diagnosis] {
    let place = path
    var list: [Diagnosis] = []
    for (number, option, value) in options(of: text) {
      let line = "line \(number), `\(option)`"
      let reason = danger(option, value)
      switch owner {
      case .machine where isHarmful(option):
        list.append(
          .wrong(
            "gpg.conf", "\(place) \(line): it changes what keytree writes, so new items are refused",
            advice: "remove the line"))
      case .machine where reason != nil:
        list.append(.note("gpg.conf", "\(place) \(line): \(reason ?? "")", advice: "remove the line"))
      case .user where reason != nil:
        list.append(
          .note(
            "gpg.conf",
            "\(place) \(line): \(reason ?? ""); keytree does not read this file, but other programs do",
            advice: "remove the line unless you need it"))
      case .user where withoutEffect.contains(option):
        list.append(.note("gpg.conf", "\(place) \(line): it has no effect on keytree"))
      case .user, .machine: break
      }
    }
    return list
  }

  /// Returns the options in a file. gpg accepts them with or without `--`; the rest of the line is the value.
  static func options(of text: String) -> [(line: Int, option: String, value: String)] {
    var found: [(Int, String, String)] = []
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let words = line.split(maxSplits: 1, whereSeparator: { $0 == " " || $0 == "\t" || $0 == "\r" })
      guard let first = words.first, !first.hasPrefix("#") else { continue }
      let name = first.hasPrefix("--") ? first.dropFirst(2) : first
      let value = words.count > 1 ? words[1].split(separator: " ").joined(separator: " ") : ""
      found.append((index + 1, String(name), value))
    }
    return found
  }

  // Options that change what is encrypted, to which recipients, and how.
  private static let withoutEffect: Set<String> = [
    "armor", "cipher-algo", "comment", "compress-algo", "default-key", "default-recipient",
    "default-recipient-self", "digest-algo", "encrypt-to", "hidden-encrypt-to", "hidden-recipient",
    "local-user", "openpgp", "output", "personal-cipher-preferences", "personal-compress-preferences",
    "personal-digest-preferences", "recipient", "rfc4880", "s2k-cipher-algo", "s2k-count",
    "s2k-digest-algo", "set-filename", "textmode", "trust-model",
  ]

  // Options that the configuration of an engine home cannot override.
  private static func isHarmful(_ option: String) -> Bool {
    ["group", "rfc2440", "armor", "disable-mdc", "recipient", "hidden-recipient"].contains(option)
  }

  private static func danger(_ option: String, _ value: String) -> String? {
    switch option {
    case "rfc2440", "disable-mdc": "messages are written without integrity protection"
    case "ignore-mdc-error": "modified messages are accepted"
    case "group": "messages to one recipient are encrypted to others"
    case "throw-keyids": "messages do not show their recipients"
    case "always-trust": "messages are encrypted to keys that were not verified"
    case "trust-model" where value == "always": "messages are encrypted to keys that were not verified"
    case "allow-weak-digest-algos": "forged signatures are accepted"
    case "allow-old-cipher-algos": "messages without integrity protection are accepted"
    case "cipher-algo" where ["3DES", "CAST5", "IDEA", "BLOWFISH"].contains(value.uppercased()):
      "messages are written with an outdated cipher"
    case "auto-key-retrieve": "keys that a message names are fetched from the network"
    default: nil
    }
  }
}
