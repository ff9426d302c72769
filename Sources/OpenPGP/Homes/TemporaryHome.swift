internal import CGPGME
internal import FileSystem
internal import Glibc
package import KeyringModel

/// A temporary GnuPG home in its own folder. Nothing outside of the folder is used.
package struct TemporaryHome: Sendable {
  /// The folder with all files of the home.
  package let folder: String
  private let searchPath: String
  /// True if an agent may run in it.
  private var hasAgent = true

  /// The GnuPG home.
  package var home: String { folder + "/gnupg" }
  /// The folder for engine homes. They are removed with the rest.
  package var runtimeFolder: String { folder + "/run" }

  /// Creates the folders, without a key.
  ///
  /// - Parameters:
  ///   - prefix: The path up to the random part of the folder's name. It must be short: socket paths have at most 107
  ///     bytes.
  ///   - searchPath: The search path for programs.
  /// - Throws: `unsafeEngine` when the folder cannot be created.
  package init(prefix: String, searchPath: String) throws(EngineError) {
    self.searchPath = searchPath
    var template = (prefix + "XXXXXX").utf8CString.map { $0 }
    guard unsafe mkdtemp(&template) != nil else {
      throw .unsafeEngine(path: prefix, reason: PrivateFolder.reason(errno))
    }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    for path in [home, runtimeFolder] {
      guard unsafe mkdir(path, 0o700) == 0 else {
        let error = EngineError.unsafeEngine(path: path, reason: PrivateFolder.reason(errno))
        remove()
        throw error
      }
    }
  }

  /// Creates the folders for work without a secret key: no agent is started in them.
  ///
  /// Folders that a killed process left are removed after a day.
  ///
  /// - Parameters:
  ///   - base: The parent folder, absolute; created if it is missing. If its disk is full, a folder in memory is used.
  ///   - name: The start of the folder's name.
  ///   - searchPath: The search path for programs.
  ///   - options: More lines of `gpg.conf`.
  /// - Throws: `unsafeEngine` when the folder cannot be created, or others can change it.
  package init(
    withoutKeyIn base: String, name: String, searchPath: String, options: [String] = []
  ) throws(EngineError) {
    let base =
      FallbackFolders.isFull(base)
      ? FallbackFolders.inMemory.first { !FallbackFolders.isFull($0) } ?? base : base
    try PrivateFolder.make(base)
    Self.removeOld(in: base, name: name)
    try self.init(prefix: "\(base)/.\(name)-", searchPath: searchPath)
    hasAgent = false
    do throws(EngineError) {
      // If the clock is behind, gpg would otherwise find no key in a file. Only one gpg at a time uses the home, so it
      // needs no locks: gpg 2.2 tries forever to remove the file with which it prepares a lock.
      let lines = ["no-autostart", "lock-never", "ignore-time-conflict", "ignore-valid-from"] + options
      try SmallFile.write(Array(lines.map { "\($0)\n" }.joined().utf8), to: home + "/gpg.conf")
    } catch {
      remove()
      throw error
    }
  }

  private static func removeOld(in base: String, name: String) {
    for old in FolderNames.text(at: base) where old.hasPrefix(".\(name)-") {
      var status = stat()
      guard unsafe lstat("\(base)/\(old)", &status) == 0, time(nil) - status.st_mtim.tv_sec > 86_400 else {
        continue
      }
      FolderRemoval.removeContent(of: "\(base)/\(old)")
      _ = unsafe rmdir("\(base)/\(old)")
    }
  }

  /// Creates a key for signing and a subkey for encryption, without a passphrase. Starts an agent.
  ///
  /// - Parameter userID: Name and address.
  /// - Returns: The primary fingerprint.
  /// - Throws: An engine error.
  @discardableResult
  package func makeKey(_ userID: String) throws(EngineError) -> Fingerprint {
    let found = try EngineProgram.find(searchPath: searchPath)
    let program = try Library.program(found.gpg, rememberedIn: nil, processStarted: {})
    let context = try Context(program: program, home: home, interaction: .loopback { nil })
    let flags = UInt32(GPGME_CREATE_NOPASSWD) | UInt32(GPGME_CREATE_NOEXPIRE)
    // Elliptic curves are fast to generate: with GnuPG 2.2 "default" would still be RSA.
    let code = unsafe gpgme_op_createkey(context.pointer, userID, "future-default", 0, 0, nil, flags)
    if code != 0 { throw EngineError(code) }
    guard let text = unsafe gpgme_op_genkey_result(context.pointer)?.pointee.fpr,
      let fingerprint = unsafe Fingerprint(String(cString: text))
    else { throw .engineMissing(detail: "gpg does not report the new key") }
    return fingerprint
  }

  /// Returns a context for the home. It never prompts.
  func context(_ processStarted: () -> Void) throws(EngineError) -> Context {
    let found = try EngineProgram.find(searchPath: searchPath)
    let program = try Library.program(
      found.gpg, rememberedIn: runtimeFolder, processStarted: processStarted)
    guard EngineProgram.isRecentEnough(program.version) else { throw .engineTooOld(version: program.version) }
    return try Context(program: program, home: home, interaction: .never)
  }

  /// Stops the agent and removes everything. Errors are ignored: what remains has no value.
  package func remove() {
    // Without GnuPG there is no agent to stop.
    if let program = try? EngineProgram.find(searchPath: searchPath) {
      let gpgconf = Gpgconf(program: program.gpgconf, processStarted: {})
      // A home without an agent has nothing to stop.
      if hasAgent { _ = try? gpgconf.run(["--homedir", home, "--kill", "all"]) }
      // Under /run/user GnuPG keeps the sockets of each home in a separate folder.
      for path in [home] + engineHomes { _ = try? gpgconf.run(["--homedir", path, "--remove-socketdir"]) }
    }
    FolderRemoval.removeContent(of: folder)
    _ = unsafe rmdir(folder)
  }

  private var engineHomes: [String] {
    let base = runtimeFolder + "/keytree"
    return FolderNames.text(at: base).filter { !$0.hasPrefix(".") }.map { "\(base)/\($0)" }
  }
}
