internal import FileSystem
internal import Subprocess

/// The check of the repositories to which git is about to connect, according to the configuration (threats T50 and T51).
package struct RemoteAccess {
  private let git: Git
  private let configuration: GitConfiguration

  /// Reads the configuration.
  ///
  /// - Parameter git: Git for the store's repository, whose own configuration must have been checked, or for a folder
  ///   without a repository.
  /// - Throws: `unsupportedAddress`; the errors of `Git.run`.
  init(in git: Git) throws {
    self.git = git
    configuration = try GitConfiguration(in: git)
  }

  /// Checks a remote.
  ///
  /// - Parameters:
  ///   - name: The name of the remote, or its address.
  ///   - pushing: True for a push, false for a fetch.
  /// - Returns: The program for git's option `--receive-pack` or `--upload-pack`; nil if the remote is on another
  ///   machine.
  /// - Throws: `unsupportedTransport`; `unsupportedAddress`; `unsafeRemote`; `unsafeConfiguration` if only some of its
  ///   addresses are on this machine; the errors of `Git.run`.
  func program(for name: String, pushing: Bool) throws -> String? {
    let addresses = configuration.addresses(of: name, pushing: pushing)
    for address in addresses { try require(address, of: name) }
    let kinds = Set(addresses.map(\.isLocal))
    guard kinds.count <= 1 else { throw GitError.unsafeConfiguration(keys: ["remote.\(name).url"]) }
    return kinds.contains(true) ? GitOptions.remoteProgram(pushing ? "receive-pack" : "upload-pack") : nil
  }

  /// Returns true if a push to a remote would replace all of its references.
  func isMirror(_ name: String) -> Bool { configuration.isMirror(name) }

  /// Checks a repository to clone.
  ///
  /// - Parameter url: Its address.
  /// - Returns: The program for git's option `--upload-pack`; nil if the repository is on another machine.
  /// - Throws: The errors of ``program(for:pushing:)``.
  func program(forCloneOf url: String) throws -> String? {
    let address = RemoteAddress(url)
    // Git does not rewrite the address of a repository that exists.
    if address.isPath, RealPath.of(url) != nil {
      try require(address, of: url)
      return GitOptions.remoteProgram("upload-pack")
    }
    return try program(for: url, pushing: false)
  }

  private func require(_ address: RemoteAddress, of remote: String, allowsHooks: Bool = true) throws {
    try requireTransport(of: address, remote)
    if address.isLocal { try requireSafe(address, in: git.folder, allowsHooks: allowsHooks) }
  }

  private func requireTransport(of address: RemoteAddress, _ remote: String) throws {
    guard !address.transport.isEmpty else { throw GitError.unsupportedAddress(setting: address.shown) }
    guard configuration.allows(address.transport) else {
      let isConfigured = configuration.remotes.contains(remote)
      throw GitError.unsupportedTransport(
        name: address.transport, remote: isConfigured ? "\(remote) (\(address.shown))" : address.shown)
    }
  }

  /// Checks a repository on this machine.
  private func requireSafe(_ address: RemoteAddress, in folder: String, allowsHooks: Bool) throws {
    let home = git.outerEnvironment.value("HOME").flatMap { String(validating: $0, as: UTF8.self) }
    guard let path = address.path(in: folder, home: home) else {
      throw GitError.unsupportedAddress(setting: address.shown)
    }
    try Repository.requireSafeRemote(at: path, allowsHooks: allowsHooks, git)
  }

  // MARK: Commands of the user

  /// Checks all remotes before a command of the user. It may use any of them: an alias can be a push, and a fetch can
  /// be one of all remotes.
  ///
  /// - Parameters:
  ///   - arguments: The command and its arguments as typed by the user.
  ///   - place: The folder in which the command runs.
  ///   - repository: The repository of the store.
  /// - Returns: The options with which git may connect to other repositories; nil if a remote is not safe and the
  ///   command is not known to connect to one, so that it can run if git may not connect.
  /// - Throws: The errors of ``program(for:pushing:)``.
  package static func options(
    for arguments: [[UInt8]], in place: String, _ repository: Repository
  ) throws -> [String]? {
    let command = TypedCommand(arguments)
    do {
      return try RemoteAccess(in: repository.git).options(for: command, in: place)
    } catch let error as GitError where error.isAboutRemote && !command.connects {
      return nil
    }
  }

  private func options(for command: TypedCommand, in place: String) throws -> [String] {
    var options = configuration.transportOptions
    let remotes = configuration.remotes
    for name in remotes {
      for (pushing, setting) in [(false, "uploadpack"), (true, "receivepack")] {
        // A name with `=` cannot be part of an option.
        guard !name.utf8.contains(UInt8(ascii: "=")) else {
          try requireAddresses(of: name, for: command)
          continue
        }
        let program = try program(for: name, pushing: pushing)
        if let program, !command.showsRemotes { options += ["-c", "remote.\(name).\(setting)=\(program)"] }
      }
    }
    for address in configuration.remotesOfBranches where address != "." && !remotes.contains(address) {
      try requireAddresses(of: address, for: command)
    }
    for word in try command.possibleAddresses() where !remotes.contains(word) {
      try requireTyped(word, for: command, in: place)
    }
    return options
  }

  /// Checks addresses for which git's settings cannot name the programs, so that hooks would run.
  private func requireAddresses(of name: String, for command: TypedCommand) throws {
    for pushing in [false, true] {
      for address in configuration.addresses(of: name, pushing: pushing) {
        try require(address, of: name, allowsHooks: command.onlyReads)
      }
    }
  }

  /// Checks a word that may be an address. Any other word is the path of no repository.
  private func requireTyped(_ word: String, for command: TypedCommand, in place: String) throws {
    for pushing in [false, true] {
      for address in configuration.addresses(of: word, pushing: pushing) {
        if address.isLocal {
          for folder in [git.folder, place] {
            try requireSafe(address, in: folder, allowsHooks: command.onlyReads)
          }
        } else if address.namesTransport {
          try requireTransport(of: address, word)
        }
      }
    }
  }
}

/// A git command as typed by the user.
private struct TypedCommand {
  /// The arguments; nil if they are not UTF-8.
  private let words: [String]?
  /// The name of the command and its arguments.
  private let command: ArraySlice<String>

  init(_ arguments: [[UInt8]]) {
    let texts = arguments.compactMap { String(validating: $0, as: UTF8.self) }
    words = texts.count == arguments.count ? texts : nil
    var rest = texts[...]
    while let first = rest.first, first.utf8.first == UInt8(ascii: "-") {
      rest = rest.dropFirst(Self.optionsWithValue.contains(first) ? 2 : 1)
    }
    command = rest
  }

  private static let optionsWithValue = [
    "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env",
  ]

  /// True if the command is known to connect to a remote.
  var connects: Bool {
    if command.first == "remote" {
      return ["update", "show", "prune", "set-head"].contains(command.dropFirst().first)
    }
    return ["clone", "fetch", "ls-remote", "pull", "push"].contains(command.first)
  }

  /// True if the command is known to push nothing.
  var onlyReads: Bool { ["clone", "fetch", "ls-remote", "pull", "remote"].contains(command.first) }

  /// True if the command shows or changes the settings of remotes, to which options would be added.
  var showsRemotes: Bool { ["config", "remote"].contains(command.first) }

  /// Returns the words that may be addresses, including the values of options and settings.
  ///
  /// - Throws: `unsupportedAddress` if an argument is not UTF-8.
  func possibleAddresses() throws -> [String] {
    guard let words else { throw GitError.unsupportedAddress(setting: command.first ?? "") }
    return words.flatMap { word in
      [word] + (word.firstIndex(of: "=").map { [String(word[word.index(after: $0)...])] } ?? [])
    }.filter { !$0.isEmpty }
  }
}
