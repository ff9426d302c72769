internal import Clocks
package import Secrets

/// An editor session for a secret that leaves no traces on the disk.
///
/// The file is in memory, in its own folder (`EditorFolder`), and is wiped after the editor exits for any reason.
/// Without a folder in memory, editing is refused.
package struct Editor {
  private let environment: Environment
  private let folders: [String]
  private let glance: Duration

  /// Creates the editor that the environment names. Its file is below `$XDG_RUNTIME_DIR`, else below `/dev/shm`.
  ///
  /// - Parameters:
  ///   - environment: the environment, which names the editor and the folder.
  ///   - folders: folders to use instead, for tests.
  ///   - glance: the time limit for a warning: an editor that exits within it, without a change, probably did not wait
  ///     for the user.
  package init(environment: Environment, folders: [String]? = nil, glance: Duration = .seconds(1)) {
    self.glance = glance
    self.environment = environment
    self.folders = folders ?? Self.folders(environment)
  }

  /// Returns the folders in which the file may be created, in order of preference, if they are in memory.
  package static func folders(_ environment: Environment) -> [String] {
    [environment.runtimeFolder, "/dev/shm"].compactMap { $0 }
  }

  /// Opens the editor on a secret and returns the edited secret, or nil if it did not change.
  ///
  /// Most editors end a file with a line feed. A line feed that was not there before is removed. If the result cannot
  /// be stored, the user may edit it again.
  ///
  /// - Parameters:
  ///   - secret: the secret to change.
  ///   - limit: the largest number of bytes.
  ///   - console: a console with a terminal.
  /// - Throws: `promptImpossible` without a terminal; `EditorError`.
  package func edit(
    _ secret: borrowing SecretBytes, limit: Int, console: Console
  ) throws -> SecretBytes? {
    try Self.requirePerson(at: console)
    console.flush()
    let start = SystemClock.awake
    let edited: SecretBytes = try run(on: secret, limit: limit, console: console)
    guard edited.isEqual(to: secret) else { return edited }
    if SystemClock.awake - start < glance {
      console.say(
        "The editor exited immediately. If its window is still open, changes in it are not stored: close it, and "
          + "add the editor's option to wait, such as `--wait`, to `VISUAL` or `EDITOR`.")
    }
    return nil
  }

  /// Checks that a terminal is available for the editor, before a secret is decrypted.
  ///
  /// - Throws: `promptImpossible`.
  package static func requirePerson(at console: Console) throws {
    guard console.inputIsTerminal, !console.refusesInput else {
      let obstacle: TerminalError.PromptObstacle = console.refusesInput ? .inputRefused : .noTerminal
      throw TerminalError.promptImpossible(question: "New secret", obstacle)
    }
  }

  private func run(
    on secret: borrowing SecretBytes, limit: Int, console: Console
  ) throws(EditorError) -> SecretBytes {
    // Signal handling starts first and ends last, so that no signal can end this process and leave the folder behind.
    let process = try EditorProcess()
    defer { process.stop() }
    let folder = try EditorFolder.create(below: folders)
    defer { folder.remove() }
    let command = try EditorCommand(
      environment.editor, searchPath: environment.searchPath, folder: folder.path)
    if command.family == .unknown {
      let name = Escaping.terminal.show(command.words.first ?? command.path)
      console.say("\(name) is not a known editor: make sure that it does not save copies elsewhere.")
    }
    try folder.write(secret)
    while true {
      do throws(EditorError) {
        try process.run(command, on: folder.filePath, environment: environment)
        try process.checkInterruption()
        return try read(folder, was: secret, limit: limit)
      } catch {
        // The file still exists and contains the user's edit.
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
    // One byte more than the limit, for the line feed that may be removed.
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

  /// Returns true if the content of the file differs from the secret.
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
