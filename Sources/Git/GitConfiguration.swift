/// The settings that git reads in a folder, from all its configuration files, in the order in which git applies them.
package struct GitConfiguration {
  private struct Setting {
    /// The kind of the file, such as `local` or `global` (git-config(1), "SCOPES").
    let scope: String
    /// The name, in lower case except for the subsection.
    let key: String
    let value: String

    /// The name of the remote to which the setting belongs; nil for another setting.
    var remote: String? {
      let start = "remote.".utf8
      guard key.utf8.starts(with: start), let dot = key.utf8.lastIndex(of: UInt8(ascii: ".")) else {
        return nil
      }
      let rest = key.utf8[..<dot].dropFirst(start.count)
      return rest.isEmpty ? nil : String(rest)
    }

    /// Returns the subsection of a setting such as `remote.NAME.url`; nil for another setting.
    func subsection(of section: String, _ name: String) -> String? {
      let (start, end) = ("\(section).".utf8, ".\(name)".utf8)
      let bytes = key.utf8
      guard bytes.count > start.count + end.count, bytes.starts(with: start),
        bytes.suffix(end.count).elementsEqual(end)
      else { return nil }
      return String(bytes.dropFirst(start.count).dropLast(end.count))
    }
  }

  private let settings: [Setting]

  /// Reads the settings.
  ///
  /// - Parameter git: Git for the folder. If it contains a repository, its configuration must have been checked.
  /// - Throws: `unsupportedAddress`; the errors of `Git.run`.
  package init(in git: Git) throws {
    let fields = try git.records(["config", "--list", "--show-scope", "-z"])
    guard fields.count.isMultiple(of: 2) else { throw GitError.unexpectedOutput(command: "config") }
    settings = try stride(from: 0, to: fields.count, by: 2).map { index in
      let parts = fields[index + 1].split(
        separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
      let (key, value) = (parts[0], parts.count > 1 ? parts[1] : [])
      let setting = Setting(
        scope: String(decoding: fields[index], as: UTF8.self), key: String(decoding: key, as: UTF8.self),
        value: String(decoding: value, as: UTF8.self))
      // Any other bytes could not be compared with what git uses.
      if Self.isAboutAddress(setting.key)
        ? !Self.isText(key) || !Self.isText(value)
        : setting.remote != nil && !Self.isText(key)
      {
        throw GitError.unsupportedAddress(setting: setting.key)
      }
      return setting
    }
  }

  /// Returns the value of a setting; nil if it is not set.
  package func value(_ key: String) -> String? {
    settings.last { $0.key.utf8.elementsEqual(key.utf8) }?.value
  }

  // MARK: Remotes

  /// The names of the configured remotes. The name of one without an address is its address.
  package var remotes: [String] {
    var names: [String] = []
    for setting in settings {
      guard let name = setting.remote, !names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
        continue
      }
      names.append(name)
    }
    return names
  }

  /// The values of settings that are the name of a remote or the address of one.
  package var remotesOfBranches: [String] {
    settings.filter { setting in
      setting.key == "remote.pushdefault"
        || ["remote", "pushremote"].contains { setting.subsection(of: "branch", $0) != nil }
    }.map(\.value)
  }

  /// Returns the addresses that git uses for a remote (git-config(1), `remote.NAME.url`, `url.BASE.insteadOf`).
  ///
  /// - Parameters:
  ///   - name: The name of a configured remote; otherwise an address.
  ///   - pushing: True for a push, false for a fetch.
  package func addresses(of name: String, pushing: Bool) -> [RemoteAddress] {
    let configured = values(of: name, "url")
    let urls = configured.isEmpty ? [name] : configured
    let pushURLs = pushing ? values(of: name, "pushurl") : []
    if !pushURLs.isEmpty { return pushURLs.map { RemoteAddress(rewritten($0, "insteadof") ?? $0) } }
    let pushed = pushing ? urls.compactMap { rewritten($0, "pushinsteadof") } : []
    if !pushed.isEmpty { return pushed.map(RemoteAddress.init) }
    return urls.map { RemoteAddress(rewritten($0, "insteadof") ?? $0) }
  }

  /// Returns true if a push to a remote would replace all of its references (git-config(1), `remote.NAME.mirror`).
  package func isMirror(_ name: String) -> Bool {
    guard let value = settings.last(where: { isSetting($0, "mirror", of: name) })?.value else { return false }
    // A value that is not a Boolean is an error of git, which it reports itself.
    return !["false", "no", "off", "0"].contains(value.lowercased())
  }

  private func isSetting(_ setting: Setting, _ name: String, of remote: String) -> Bool {
    setting.subsection(of: "remote", name)?.utf8.elementsEqual(remote.utf8) ?? false
  }

  private func values(of remote: String, _ name: String) -> [String] {
    settings.filter { isSetting($0, name, of: remote) }.map(\.value).filter { !$0.isEmpty }
  }

  /// Returns an address with the longest matching prefix replaced; nil if none matches.
  private func rewritten(_ address: String, _ name: String) -> String? {
    var found: (base: String, count: Int)?
    for setting in settings {
      guard let base = setting.subsection(of: "url", name), address.utf8.starts(with: setting.value.utf8),
        setting.value.utf8.count > found?.count ?? -1
      else { continue }
      found = (base, setting.value.utf8.count)
    }
    return found.flatMap { found in
      String(address.utf8.dropFirst(found.count)).map { found.base + $0 }
    }
  }

  private static func isAboutAddress(_ key: String) -> Bool {
    let names = ["url", "pushurl", "insteadof", "pushinsteadof", "remote", "pushremote", "pushdefault"]
    return ["remote.", "branch.", "url."].contains { key.utf8.starts(with: $0.utf8) }
      && names.contains { key.utf8.suffix($0.utf8.count + 1).elementsEqual(".\($0)".utf8) }
  }

  private static func isText(_ bytes: ArraySlice<UInt8>) -> Bool {
    String(validating: bytes, as: UTF8.self) != nil && !bytes.contains { $0 < 0x20 || $0 == 0x7F }
  }

  // MARK: Transports

  /// The rules by transport: those of git, the stricter ones of the user, and others that the user's own configuration
  /// or that of the system allows by name.
  private var transports: [String: String] {
    let own = settings.filter { ["global", "system"].contains($0.scope) }
    var rules = RemoteAddress.usualTransports
    switch own.last(where: { $0.key == "protocol.allow" })?.value {
    case "never": rules = rules.mapValues { _ in "never" }
    case "user": rules = rules.mapValues { _ in "user" }
    default: break
    }
    for setting in own {
      guard let name = setting.subsection(of: "protocol", "allow"), RemoteAddress.isScheme(name) else {
        continue
      }
      rules[name] = setting.value
    }
    return rules
  }

  /// The options that restrict git to these transports.
  package var transportOptions: [String] {
    GitOptions.settings(
      [("protocol.allow", "never")]
        + transports.sorted { $0.key < $1.key }.map { ("protocol.\($0.key).allow", $0.value) })
  }

  /// Returns true if git may use a transport.
  package func allows(_ transport: String) -> Bool {
    ["always", "user"].contains(transports[transport] ?? "never")
  }
}
