package import Keyring
package import KeyringModel
package import OpenPGP

/// The messages, hints and exit codes for the errors of a keyring.
extension ErrorReport {
  /// Creates the report for an error of a keyring.
  package init(_ error: KeyringError) {
    switch error {
    case .noStore(let path):
      self.init(
        .notFound, "cannot open the store \(path): there is none",
        hint: "`keytree init` makes it, `--store DIR` names another")
    case .storeExists(let path):
      self.init(
        .alreadyExists, "cannot make the store \(path): it exists",
        hint: "`keytree status` shows what is in it")
    case .folderNotEmpty(let path):
      self.init(
        .alreadyExists, "cannot make the store \(path): the folder holds other things",
        hint: "give an empty folder, or one that does not exist yet, with `--store DIR`")
    case .unsafeFolder(let path, .ownedBy(let user)):
      self.init(
        .failure, "cannot use the folder \(path): it belongs to user \(user)",
        hint: "a store and all folders above it must belong to you or to root")
    case .unsafeFolder(let path, .writableByOthers):
      self.init(
        .failure, "cannot use the folder \(path): others can write to it",
        hint: "`chmod go-w` on that folder takes the permission away")
    case .busy(let holder):
      let process = holder.map { " (process \($0))" } ?? ""
      self.init(
        .storeBusy, "cannot write to the store: another process\(process) is writing",
        hint: "try again when it is done")
    case .file(let error):
      self.init(error)
    case .invalidQuery(.secretOfAllMatches):
      self.init(
        .usage, "cannot answer the query: the secrets of all matches are never given out (errSecParam)",
        hint: "find the items first, then get the secret of one")
    case .invalidQuery(let error):
      self.init(
        .usage, "cannot answer the query: \(error.words)",
        hint: "`keytree help find` shows what can be searched for")
    case .invalidAttribute(let error):
      self.init(error)
    case .attributesTooLarge:
      self.init(
        .usage, "cannot store the item: its attributes together are longer than a line of 16 KiB",
        hint: "attributes are for searching; long text can be the secret of an item of its own")
    case .secretTooLarge(let limit):
      self.init(
        .failure, "cannot store the secret: it is longer than \(limit) bytes", hint: Self.largeSecretHint)
    case .itemNotFound:
      self.init(
        .notFound, "the item is gone: somebody has removed it meanwhile",
        hint: "`keytree find TEXT` searches all attributes")
    case .itemExists(let reference):
      self.init(
        .alreadyExists, "cannot store \(reference.text): an item is there already",
        hint: "choose another name, or remove that item first; `keytree add --update` replaces a secret")
    case .itemDamaged(let reference, let damage):
      self.init(
        .damaged, "cannot use \(reference.text): \(damage.words)",
        hint: damage.isForRepair
          ? "`keytree check --repair` settles it"
          : Self.damageHint)
    case .bindingMismatch(let reference, let mismatch):
      self.init(
        .damaged, "cannot use \(reference.text): binding mismatch: \(mismatch.words)",
        hint: mismatch.hint)
    case .shardDamaged(let file, let problems):
      let first = problems.first.map { ": \($0.words)" } ?? ""
      self.init(
        .damaged, "cannot write to \(file)\(first)",
        hint: "`keytree check --repair` settles it, nothing is deleted")
    case .shardRefused(let file, .full(let limit)):
      self.init(
        .failure, "cannot write to \(file): it would be larger than \(limit) bytes",
        hint: "choose another name, which leads to another file, or make room with `keytree rm`")
    case .shardRefused(let file, _):
      self.init(
        .damaged, "cannot write to \(file): a line does not belong there",
        hint: "`keytree check --repair` settles it, nothing is deleted")
    case .transactionDamaged(let folder):
      self.init(
        .damaged, "cannot finish the change in \(folder): its record cannot be read",
        hint: "`keytree check --repair` quarantines it")
    case .transactionOutdated(let folder):
      self.init(
        .damaged,
        "cannot finish the change in \(folder): the files that it replaces have changed since",
        hint: "`keytree check --repair` quarantines it, and keeps the files as they are")
    case .transactionUnknown(let folder):
      self.init(
        .damaged, "cannot finish the change in \(folder): a newer keytree began it",
        hint: "run any command that writes with that version")
    case .engine(let error, let reference):
      self.init(error, item: reference?.text)
    case .policyNotTrusted(let distrust):
      self.init(
        .policyNotTrusted, "the policy of the store is not trusted: \(distrust.words)",
        hint: distrust.hint)
    case .unknownGroup(let group):
      self.init(
        .failure, "the policy has no group \(Self.quote(group))",
        hint: "`keytree group list` names the groups")
    case .team(let error):
      self.init(error)
    }
  }

  /// The hint for an item that only an older copy can restore.
  private static var damageHint: String { "`keytree check` looks at all items; git or a backup has it" }

  package init(_ error: FileError) {
    let path = error.path
    // Without these files no command works, not even `check`.
    let isNeeded = error.path.hasPrefix("policy.json") || error.path.hasPrefix("keys/")
    let hint =
      isNeeded
      ? "restore it from git or a backup"
      : "`keytree check` shows everything that does not belong in the store"
    switch error.reason {
    case .system(let number):
      self.init(
        .failure, "cannot \(error.operation) \(path): \(Self.words(number))", hint: Self.hint(number))
    case .notARegularFile:
      self.init(
        .damaged, "cannot \(error.operation) \(path): it is a link, a folder or a device, not a file",
        hint: hint)
    case .hasOtherNames:
      self.init(
        .damaged, "cannot \(error.operation) \(path): the file has other names (hard links)",
        hint: hint)
    case .tooLarge(let limit):
      self.init(
        .damaged, "cannot \(error.operation) \(path): it is larger than \(limit) bytes",
        hint: hint)
    }
  }

  /// Creates the report for an attribute that an item cannot have.
  package init(_ error: AttributeError) {
    let (name, reason) =
      switch error {
      case .wrongClass(let name, let itemClass):
        (name.text, "items of class \(itemClass.rawValue) do not have it")
      case .wrongKind(let name, let expected, _): (name.text, "its type is \(expected.rawValue)")
      case .valueTooLong(let name, let limit): (name.text, "it is longer than \(limit) bytes")
      case .integerOutOfRange(let name): (name.text, "the number lies outside of -2^53 to 2^53")
      case .emptyName: ("", "it has no name")
      case .nameTooLong(let name, let limit): (name.text, "its name is longer than \(limit) bytes")
      case .controlCharacterInName(let name): (name.text, "its name holds a control character")
      case .reservedName(let name): (name.text, "the store itself keeps it")
      case .invalidFieldName: (AttributeName.field.text, Self.fieldRule)
      case .tooMany(let limit): ("", "an item has at most \(limit) attributes")
      }
    self.init(
      .usage, "cannot use the attribute \(name): \(reason)",
      hint: "`keytree help add` lists the options; any other name is a custom attribute")
  }

  /// Creates the report for an error of GnuPG, with the item if the error concerns one.
  package init(_ error: EngineError, item: String?) {
    let doctor = "`keytree doctor` names the agent, its socket, the keys and what is wrong with them"
    let subject = item.map { "cannot decrypt \($0)" } ?? "cannot use OpenPGP"
    // Signing a new item needs the key, just as decrypting an old one does.
    let unlocking = item.map { "cannot unlock your key for \($0)" } ?? "cannot unlock your key"
    switch error {
    case .cancelled:
      self.init(
        .cancelled, "\(unlocking): the passphrase was not given",
        hint: "run it again and give the passphrase of your key")
    case .noPromptPossible:
      self.init(
        .cancelled, "\(unlocking): nobody can be asked for its passphrase",
        hint: "run it on a terminal without `--no-input` (and with `GPG_TTY=$(tty)`), or unlock the key first"
      )
    case .badPassphrase:
      self.init(
        .cannotDecrypt, "\(unlocking): the passphrase was wrong",
        hint: "run it again and give the passphrase of your key")
    case .notARecipient(let recipients):
      let keys = recipients.map(\.text).joined(separator: ", ")
      self.init(
        .cannotDecrypt, "\(subject): it is sealed to \(keys), and you have none of these keys", hint: doctor)
    case .corrupt:
      self.init(.damaged, "\(subject): the message is damaged", hint: Self.damageHint)
    case .alteredRecipients:
      self.init(
        .damaged, "\(subject): \(BindingMismatch.recipients.words)", hint: BindingMismatch.recipients.hint)
    case .notEncrypted:
      self.init(.damaged, "\(subject): the file holds no encrypted message", hint: Self.damageHint)
    case .tooLarge(let limit):
      self.init(
        .damaged, "\(subject): its contents are larger than \(limit) bytes", hint: Self.damageHint)
    case .message(let error):
      self.init(.damaged, "\(subject): \(error.words)", hint: Self.damageHint)
    case .unusableKey(let fingerprint, let problem):
      self.init(
        .recipientUnusable, "cannot use the key \(fingerprint.text): \(problem.words)", hint: doctor)
    case .noRecipients:
      self.init(.recipientUnusable, "cannot seal: there is nobody to seal to", hint: doctor)
    case .wrongRecipients(let expected, let found, let setting):
      let lists = [expected, found].map { $0.map(\.text).joined(separator: " ") }
      self.init(
        .recipientUnusable,
        "nothing was stored: GnuPG sealed to \(lists[1]) where \(lists[0]) was asked for",
        hint: setting.map { "look for `\($0)` in your GnuPG configuration" } ?? doctor)
    case .agentUnreachable(let detail):
      self.init(.cannotDecrypt, "cannot reach the GnuPG agent: \(detail)", hint: doctor)
    case .engineMissing(let detail):
      self.init(
        .failure, "cannot find GnuPG: \(detail)", hint: "`apt install gnupg` installs it")
    case .engineTooOld(let version):
      self.init(
        .failure, "cannot use GnuPG \(version): it must be 2.2.36 or newer",
        hint: "a newer one, first in `PATH`, is taken")
    case .unsafeEngine(let path, let reason):
      self.init(
        .failure, "cannot use \(path) for GnuPG: \(reason)",
        hint: "programs and folders of GnuPG must be yours or root's alone, and `$XDG_RUNTIME_DIR` (else "
          + "`$XDG_CACHE_HOME`) must be a folder that you can write to")
    case .other(let code, let source, let text):
      self.init(
        .failure, "\(subject): GnuPG says: \(text) (\(source), \(code))", hint: doctor)
    }
  }
}

extension BindingMismatch {
  /// The hint for the mismatch.
  fileprivate var hint: String {
    switch self {
    case .index: "`keytree check --repair` makes the index from the signed records"
    case .condition(.group): "the item was moved to another group; look at it, and run the command again"
    case .unauthorizedMove: "ask a member of the previous group to move the item"
    case .keyring, .place, .condition, .readers, .recipients:
      "somebody has moved or replaced a file; `keytree check` looks at all items"
    }
  }
}
