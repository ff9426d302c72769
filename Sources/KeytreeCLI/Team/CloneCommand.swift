internal import Arguments
internal import CommandSupport
internal import FileSystem
internal import Glibc
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Sync
internal import Terminal

/// `keytree clone`: copies a store from another repository, and asks whether to trust it.
enum CloneCommand: Command {
  static let branch = OptionDeclaration(
    "branch", .required(ValueDeclaration("NAME", .text)),
    help: "the branch of the store (default: that of the repository, or the only one with a store)")

  static let declaration = CommandDeclaration(
    name: "clone", summary: "copy a store from another repository",
    details: [
      "Fetches the history, configures git to merge and show items with keytree and to run nothing that came with the "
        + "store, checks out the files, and shows who can read the store. Compare the fingerprints with those that "
        + "you know from another source.",
      "DIR is the folder of the store (default: `--store`, `KEYTREE_STORE` or the default folder). It must be empty "
        + "or not exist.",
    ],
    operands: [
      OperandDeclaration("URL", .bytes, help: "the address of the repository, as for `git clone`"),
      OperandDeclaration(
        "DIR", .bytes, count: .optional, completion: .folder, help: "the folder of the store"),
    ],
    options: [branch, TrustCommand.fingerprint],
    examples: [
      Example("keytree clone git@example.org:team/keys.git", "clones to the default folder"),
      Example("keytree clone https://example.org/keys.git ~/work.keytree", "clones to another folder"),
    ],
    exitCodes: [3, 4, 5, 6, 7, 8, 9, 11])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let expected = try TrustCommand.expectedAdmin(call)
    let url = try text(0, call) ?? ""
    let folder = try text(1, call)
    let path = if let folder { folder } else { try call.storePath() }
    // The folder for hints; nil if the next command finds it by itself.
    let other = folder ?? (call.globals.store == nil ? nil : path)
    let host = try call.host()
    try requireFree(path)
    let isNew = RealPath.of(path) == nil
    try StoreFolder.makeFolder(path)
    guard let real = RealPath.of(path) else { throw KeyringError.noStore(path: path) }
    let executables: [RefusedChange]
    do {
      executables = try clone(address(url), to: real, call)
    } catch {
      // The folder was empty or did not exist before, so its whole content comes from this command.
      FolderRemoval.removeContent(of: real)
      if isNew { _ = unsafe rmdir(real) }
      throw error
    }
    call.console.say("Cloned the store to \(path).")
    for file in executables { call.console.complain(file.warning) }
    let trust: Trust
    do {
      trust = try Trust(at: path, host: host)
    } catch {
      if case .policyNotTrusted(let reason) = error { throw TrustCommand.refusal(reason) }
      throw error
    }
    defer { call.explain(trust.engineStatistics) }
    do {
      let code = try TrustCommand.decide(
        trust, at: path, isOtherStore: other != nil, expected: expected, call)
      try TrustCommand.rebuildIndex(at: path, call)
      return code
    } catch TerminalError.cancelled, TerminalError.promptImpossible {
      throw notAccepted(other)
    }
  }

  /// Returns the error for people that the user has not accepted. The usual hint, to run the command again, does not
  /// apply, because the store exists.
  private static func notAccepted(_ folder: String?) -> CommandError {
    .other(
      .cancelled, message: "the store was cloned, but its people have not been accepted on this machine",
      hint:
        "run \(JoinHint.trustCommand(folder)) to accept them; until then nothing can be decrypted or changed")
  }

  /// Clones the store, and returns the files whose executable permission was not received.
  private static func clone(
    _ url: String, to path: String, _ call: CommandCall
  ) throws -> [RefusedChange] {
    let clone = StoreClone(url, branch: call.arguments.text(branch), to: path, git: call.git(in:))
    try clone.fetch(asksPerson: call.mayAsk)
    let found = try Repository.around(store: path, git: call.git(in:))
    guard let repository = found, repository.prefix.isEmpty else { throw GitError.notARepository(path: path) }
    try call.setUp(repository)
    return try clone.checkOut(repository)
  }

  private static func text(_ index: Int, _ call: CommandCall) throws -> String? {
    guard let word = call.arguments.operand(index) else { return nil }
    guard let text = word.text, !text.isEmpty else {
      throw call.misuse(.other("an operand is empty or not UTF-8"))
    }
    return text
  }

  /// Returns a path as an absolute path, because git runs in another folder. Any other address is returned unchanged.
  private static func address(_ url: String) -> String {
    RemoteAddress(url).isPath ? RealPath.of(url) ?? url : url
  }

  /// Refuses a folder that is not empty.
  private static func requireFree(_ path: String) throws {
    var facts = stat()
    guard unsafe stat(path, &facts) == 0 else { return }
    guard facts.st_mode & S_IFMT == S_IFDIR else {
      throw UserFileError(action: "create the folder", path: path, errno: EEXIST)
    }
    let names = try FileTree(at: path).list("")
    if names.contains(StoreLayout.policy) { throw KeyringError.storeExists(path: path) }
    guard names.isEmpty else { throw KeyringError.folderNotEmpty(path: path) }
  }
}
