internal import CGPGME
internal import FileSystem
internal import Glibc
package import KeyringModel

/// A GnuPG home with a key that nobody needs afterwards, in a folder of its own; nothing outside of it is used.
package struct ThrowAwayHome: Sendable {
  /// The folder that holds everything, made and removed with it.
  package let folder: String
  private let searchPath: String
  /// Whether an agent may run in it.
  private var hasAgent = true

  /// The GnuPG home with the key.
  package var home: String { folder + "/gnupg" }
  /// The folder for engine homes; what is made there is taken down with the rest.
  package var runtimeFolder: String { folder + "/run" }

  /// Makes the folders, not yet the key.
  ///
  /// - Parameters:
  ///   - prefix: The path up to the random part of the folder's name. Short: sockets have paths of at most 107
  ///     bytes.
  ///   - searchPath: Where programs are looked for.
  /// - Throws: `unsafeEngine` when the folder cannot be made.
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

  /// Makes the folders for looking at things without any key: nothing in it starts an agent.
  ///
  /// What a process left that was killed is removed after a day.
  ///
  /// - Parameters:
  ///   - base: The folder to make them in, absolute; made when it is missing. While its disk has no room, they are made
  ///     in memory.
  ///   - name: What the folder's name begins with.
  ///   - searchPath: Where programs are looked for.
  /// - Throws: `unsafeEngine` when the folder cannot be made, or others can change it.
  package init(withoutKeyIn base: String, name: String, searchPath: String) throws(EngineError) {
    let base = SpareBases.isFull(base) ? SpareBases.inMemory.first { !SpareBases.isFull($0) } ?? base : base
    try PrivateFolder.make(base)
    Self.removeOld(in: base, name: name)
    try self.init(prefix: "\(base)/.\(name)-", searchPath: searchPath)
    hasAgent = false
    do throws(EngineError) {
      try SmallFile.write(Array("no-autostart\n".utf8), to: home + "/gpg.conf")
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

  /// Makes a key for signing and one for encryption, without a passphrase; an agent is started for it.
  ///
  /// - Parameter userID: Name and address.
  /// - Returns: The primary fingerprint.
  /// - Throws: What concerns the engine.
  @discardableResult
  package func makeKey(_ userID: String) throws(EngineError) -> Fingerprint {
    let found = try EngineProgram.find(searchPath: searchPath)
    let program = try Library.program(found.gpg, rememberedIn: nil, processStarted: {})
    let context = try Context(program: program, home: home, interaction: .loopback { nil })
    let flags = UInt32(GPGME_CREATE_NOPASSWD) | UInt32(GPGME_CREATE_NOEXPIRE)
    // Curves are quick to make: with GnuPG 2.2 "default" would still be RSA.
    let code = unsafe gpgme_op_createkey(context.pointer, userID, "future-default", 0, 0, nil, flags)
    if code != 0 { throw EngineError(code) }
    guard let text = unsafe gpgme_op_genkey_result(context.pointer)?.pointee.fpr,
      let fingerprint = unsafe Fingerprint(String(cString: text))
    else { throw .engineMissing(detail: "gpg does not tell which key it has made") }
    return fingerprint
  }

  /// A context in the home that cannot ask for anything.
  func context(_ processStarted: () -> Void) throws(EngineError) -> Context {
    let found = try EngineProgram.find(searchPath: searchPath)
    let program = try Library.program(
      found.gpg, rememberedIn: runtimeFolder, processStarted: processStarted)
    guard EngineProgram.isRecentEnough(program.version) else { throw .engineTooOld(version: program.version) }
    return try Context(program: program, home: home, interaction: .never)
  }

  /// Stops the agent and removes everything. What cannot be removed stays behind; it holds nothing of value.
  package func remove() {
    // Without GnuPG there is no agent to stop.
    if let program = try? EngineProgram.find(searchPath: searchPath) {
      let gpgconf = Gpgconf(program: program.gpgconf, processStarted: {})
      // A home that was never used has no agent and no folder for sockets: nothing to be done there.
      if hasAgent { _ = try? gpgconf.run(["--homedir", home, "--kill", "all"]) }
      // Under /run/user GnuPG keeps the sockets of each home in a folder outside of it.
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
