internal import Glibc
internal import Keyring

extension KeyringError {
  /// The cause of a status that concerns the whole store or the user's key; nil for an error of a request or an item, to
  /// which the status is the answer.
  var causeOfStatus: String? {
    switch self {
    case .location(.homeUnknown): "`HOME` is not set to an absolute path"
    case .location(.settings(let error)): "the settings cannot be read: \(error.message)"
    case .location(.unsafeSettings(let path, _)): "another user can change the settings in \(path)"
    case .location(.settingsNotJSON(let path, let error)): "the settings in \(path) are not JSON (\(error))"
    case .location(.badSetting(let name, let expected, let path)):
      "the settings in \(path) cannot be used: `\(name)` must be \(expected)"
    case .noStore(let path): "there is no store in \(path)"
    case .unsafeFolder(let path, .ownedBy(let user)): "\(path) belongs to user \(user)"
    case .unsafeFolder(let path, .writableByOthers): "other users can write to \(path)"
    case .busy(let holder): "another process\(holder.map { " (\($0))" } ?? "") is writing to the store"
    case .file(let error), .unfinished(let error): error.message
    case .history(let error): "git cannot commit the last version: \(error.cause)"
    case .policyNotTrusted(let reason):
      "its policy is not the one that this machine has accepted, which `keytree trust` explains (\(reason))"
    case .shardDamaged(let file, _), .shardRefused(let file, _):
      "\(file) is damaged, which `keytree check` explains"
    case .transactionDamaged(let folder), .transactionOutdated(let folder), .transactionUnknown(let folder):
      "the interrupted change in \(folder) cannot be finished, which `keytree check` explains"
    case .engine(let error, _): error.causeOfStatus
    case .team(let error): "\(error)"
    case .storeExists, .folderNotEmpty, .invalidQuery, .invalidAttribute, .attributesTooLarge,
      .secretTooLarge,
      .itemNotFound, .itemExists, .itemDamaged, .bindingMismatch, .unknownGroup, .shared:
      nil
    }
  }
}

extension EngineError {
  /// The cause of a status that concerns the user's key or GnuPG; nil for an error of an item.
  fileprivate var causeOfStatus: String? {
    switch self {
    case .noPromptPossible:
      "the key is locked and no prompt is possible; `gpg-preset-passphrase` unlocks it, see the page Servers"
    case .restrictedAgent: "the GnuPG agent is reached over its restricted socket"
    case .unusableKey(let key, let problem): "the key \(key.text) cannot be used (\(problem))"
    case .agentUnreachable(let detail): "the GnuPG agent cannot be reached: \(detail)"
    case .engineMissing(let detail): "GnuPG was not found: \(detail)"
    case .engineTooOld(let version): "GnuPG \(version) is too old"
    case .unsafeEngine(let path, let reason): "\(path) is not safe: \(reason)"
    case .incomplete(let detail): "GnuPG ended early: \(detail)"
    case .other(_, let source, let text): "\(text) (\(source))"
    case .foreignSubkey, .noRecipients, .wrongRecipients: "\(self)"
    case .cancelled, .badPassphrase, .notARecipient, .corrupt, .alteredRecipients, .messageOfAStore,
      .notEncrypted, .tooLarge, .message:
      nil
    }
  }
}

extension FileError {
  /// The operation, the path and the reason.
  fileprivate var message: String {
    switch reason {
    case .system(let number): unsafe "\(operation) \(path): \(String(cString: strerror(number)))"
    case .notARegularFile: "\(path) is not a regular file"
    case .hasOtherNames: "\(path) has other names (hard links)"
    case .tooLarge(let limit): "\(path) is larger than \(limit) bytes"
    }
  }
}
