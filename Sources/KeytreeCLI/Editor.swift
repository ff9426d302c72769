package import Secrets

/// Lets a person change a secret in their editor without a trace on the disk.
///
/// The file is in memory, in a folder of its own (`EditorFolder`), and is wiped when the editor has ended, in
/// whatever way. Where there is no folder in memory nothing is edited.
package struct Editor {
  private let environment: Environment
  private let folders: [String]
  private let glance: Duration

  /// An editor as the environment wants it, with its file below `$XDG_RUNTIME_DIR`, else `/dev/shm`.
  ///
  /// - Parameters:
  ///   - environment: names the editor and the folder.
  ///   - folders: in the place of those folders, for tests.
  ///   - glance: an editor that changes nothing within this time may not have waited for the person.
  package init(environment: Environment, folders: [String]? = nil, glance: Duration = .seconds(1)) {
    self.glance = glance
    self.environment = environment
    self.folders = folders ?? Self.folders(environment)
  }

  /// Where the file may be, the best place first, as far as it is in memory.
  static func folders(_ environment: Environment) -> [String] {
    [environment.runtimeFolder, "/dev/shm"].compactMap { $0 }
  }

  /// Opens the editor on a secret and returns what it became, or nil when it stayed the same.
  ///
  /// Most editors end a file with a line feed. One that was not there before is taken off again. What was typed
  /// and cannot be stored may be edited again.
  ///
  /// - Parameters:
  ///   - secret: what is to be changed.
  ///   - limit: the largest number of bytes.
  ///   - console: has to have a person in front of it.
  /// - Throws: `promptImpossible` without a terminal; `editor`.
  package func edit(
    _ secret: borrowing SecretBytes, limit: Int, console: Console
  ) throws -> SecretBytes? {
    try Self.requirePerson(at: console)
    console.flush()
    let start = ContinuousClock.now
    let edited: SecretBytes = try run(on: secret, limit: limit, console: console)
    guard edited.isEqual(to: secret) else { return edited }
    if ContinuousClock.now - start < glance {
      console.say(
        "The editor ended at once. If it is still open, it did not wait, and nothing typed there is stored: close "
          + "it, and add its option to wait to `VISUAL` or `EDITOR`, such as `--wait`.")
    }
    return nil
  }

  /// Makes sure that somebody is there to edit, before a secret is decrypted for them.
  ///
  /// - Throws: `promptImpossible`.
  package static func requirePerson(at console: Console) throws {
    guard console.inputIsTerminal, !console.refusesInput else {
      let obstacle: TerminalError.PromptObstacle = console.refusesInput ? .inputRefused : .noTerminal
      throw TerminalError.promptImpossible(question: "What is the new secret", obstacle)
    }
  }

  private func run(
    on secret: borrowing SecretBytes, limit: Int, console: Console
  ) throws(EditorError) -> SecretBytes {
    // Signals first and last: between them nothing can end this process with the folder in place.
    let process = try EditorProcess()
    defer { process.stop() }
    let folder = try EditorFolder.create(below: folders)
    defer { folder.remove() }
    let command = try EditorCommand(
      environment.editor, searchPath: environment.searchPath, folder: folder.path)
    if command.family == .unknown {
      let name = Escaping.terminal.show(command.words.first ?? command.path)
      console.say("\(name) is not an editor keytree knows: make sure that it keeps no copies elsewhere.")
    }
    try folder.write(secret)
    while true {
      do throws(EditorError) {
        try process.run(command, on: folder.filePath, environment: environment)
        try process.checkInterruption()
        return try read(folder, was: secret, limit: limit)
      } catch {
        // The file is still there, and with it what was typed.
        guard let reason = error.reason, isChanged(folder, from: secret, limit: limit) else { throw error }
        let again = try process.ask { (signals) in
          try console.confirm("Nothing is stored yet: \(reason). Edit again", unless: signals)
        }
        if !again { throw error }
      }
    }
  }

  private func read(
    _ folder: EditorFolder, was secret: borrowing SecretBytes, limit: Int
  ) throws(EditorError) -> SecretBytes {
    // One byte more than the limit: the line feed that may be taken off again.
    var edited: SecretBytes
    do {
      edited = try folder.read(limit: limit + 1)
    } catch .tooLong {
      throw .tooLong(limit: limit)
    }
    if Self.endsWithLineFeed(edited), !Self.endsWithLineFeed(secret) { edited.removeLast() }
    guard !edited.isEmpty else { throw .empty }
    guard edited.count <= limit else { throw .tooLong(limit: limit) }
    return edited
  }

  /// True when the file holds something else than the secret.
  private func isChanged(_ folder: EditorFolder, from secret: borrowing SecretBytes, limit: Int) -> Bool {
    do throws(EditorError) {
      let now = try folder.read(limit: limit + 1)
      return !now.isEqual(to: secret)
    } catch .tooLong {
      return true
    } catch {
      return false
    }
  }

  private static func endsWithLineFeed(_ secret: borrowing SecretBytes) -> Bool {
    unsafe secret.withBytes { unsafe $0.last == UInt8(ascii: "\n") }
  }
}
