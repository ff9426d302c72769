package import Keyring
package import KeyringModel
package import OpenPGP

/// The messages, hints and exit codes for the errors of a keyring.
extension ErrorReport {
  /// Creates the report for an error of a keyring.
  ///
  /// - Parameter name: Returns the name of an item for people.
  package init(_ error: KeyringError, naming name: (ItemReference) -> String = \.spokenName) {
    switch error {
    case .location(let error):
      self.init(
        .failure, "cannot find the store: \(error.message)", hint: "select a store with `--store DIR`")
    case .noStore(let path):
      self.init(
        .notFound, "cannot open the store \(path): it does not exist",
        hint: "`keytree init` creates it; `--store DIR` selects another store")
    case .storeExists(let path):
      self.init(
        .alreadyExists, "cannot create the store \(path): it already exists",
        hint: "`keytree status` shows its contents; `--store DIR` selects another folder")
    case .folderNotEmpty(let path):
      self.init(
        .alreadyExists, "cannot create the store \(path): the folder contains other files",
        hint: "give an empty folder, or one that does not exist yet, with `--store DIR`")
    case .unsafeFolder(let path, .ownedBy(0)):
      // Folders above a store may belong to root.
      self.init(
        .failure, "cannot use the folder \(path): it belongs to root",
        hint:
          "a store must belong to the user who uses it; `sudo chown -R $(id -u) \(path.shellWord)` gives it to you"
      )
    case .unsafeFolder(let path, .ownedBy(let user)):
      self.init(
        .failure, "cannot use the folder \(path): it belongs to user \(user)",
        hint: "a store must belong to the user who uses it, and all folders above it to that user or to root")
    case .unsafeFolder(let path, .writableByOthers):
      self.init(
        .failure, "cannot use the folder \(path): others can write to it",
        hint: "`chmod go-w` on that folder removes the permission")
    case .busy(let holder):
      let process = holder.map { " (process \($0))" } ?? ""
      self.init(
        .storeBusy, "cannot write to the store: another process\(process) is writing",
        hint: "try again when it has finished")
    case .file(let error):
      self.init(error)
    case .unfinished(let error):
      self.init(
        .unfinished, "stored, but \(ErrorReport(error).message ?? "finishing the change failed")",
        hint: "the next command finishes the change; `keytree check` examines the store")
    case .history(let error):
      self.init(
        .gitFailed,
        "nothing was changed, because the last version is not in the history yet: "
          + Self.message(of: error.cause), hint: Self.hint(error.cause))
    case .invalidQuery(.secretOfAllMatches):
      self.init(
        .usage, "cannot answer the query: the secrets of all matches are never returned (errSecParam)",
        hint: "find the items first, then get the secret of one")
    case .invalidQuery(let error):
      self.init(
        .usage, "cannot answer the query: \(error.message)",
        hint: "`keytree help find` lists the searchable attributes")
    case .invalidAttribute(let error):
      self.init(error)
    case .attributesTooLarge:
      self.init(
        .usage, "cannot store the item: its attributes together exceed the limit of 16 KiB",
        hint: "attributes are for searching; store long text as the secret of a separate item")
    case .secretTooLarge(let limit):
      self.init(
        .failure, "cannot store the secret: it is longer than \(limit) bytes", hint: Self.largeSecretHint)
    case .itemNotFound:
      self.init(
        .notFound, "the item no longer exists: it was removed concurrently",
        hint: "`keytree find TEXT` searches all attributes")
    case .itemExists(let reference):
      self.init(
        .alreadyExists, "cannot store \(name(reference)): it already exists",
        hint:
          "choose another name, or remove that item first; `keytree set ITEM --secret` replaces its secret")
    case .itemDamaged(let reference, let damage):
      self.init(
        .damaged, "cannot use \(name(reference)): \(damage.message)",
        hint: damage.hint)
    case .bindingMismatch(let reference, let mismatch):
      self.init(
        .damaged, "cannot use \(name(reference)): binding mismatch: \(mismatch.message)",
        hint: mismatch.hint)
    case .shardDamaged(let file, let problems):
      let first = problems.first.map { ": \($0.message)" } ?? ""
      self.init(
        .damaged, "cannot write to \(file)\(first)",
        hint: "`keytree check --repair` repairs it; nothing is deleted")
    case .shardRefused(let file, .full(let limit)):
      self.init(
        .failure, "cannot write to \(file): it would be larger than \(limit) bytes",
        hint: "choose another name, which selects another file, or remove items with `keytree rm`")
    case .shardRefused(let file, _):
      self.init(
        .damaged, "cannot write to \(file): a line does not belong there",
        hint: "`keytree check --repair` repairs it; nothing is deleted")
    case .transactionDamaged(let folder):
      self.init(
        .damaged, "cannot finish the change in \(folder): its record cannot be read",
        hint: "`keytree check --repair` quarantines it")
    case .transactionOutdated(let folder):
      self.init(
        .damaged,
        "cannot finish the change in \(folder): the files that it replaces were changed in the meantime",
        hint: "`keytree check --repair` quarantines it and does not change the files")
    case .transactionUnknown(let folder):
      self.init(
        .damaged, "cannot finish the change in \(folder): a newer version of keytree started it",
        hint: "run any command that changes the store with that version")
    case .engine(let error, let reference):
      self.init(error, item: reference.map(name))
    case .policyNotTrusted(let distrust):
      self.init(
        .policyNotTrusted, "the policy of the store is not trusted: \(distrust.message)",
        hint: distrust.hint)
    case .unknownGroup(let group):
      self.init(
        .failure, "the policy has no group \(Self.quote(group))",
        hint: "`keytree group list` lists the groups, `keytree group create NAME` adds one")
    case .team(let error):
      self.init(error)
    case .shared(let conflict, let items):
      self.init(conflict, items)
    }
  }

  /// The next step if no signing subkey of the user that the store knows can be used.
  package static func signingHint(_ person: Fingerprint) -> String {
    "`keytree group refresh` imports a new signing subkey from your GnuPG keyring; if it has none, "
      + "`gpg --quick-add-key \(person.text) ed25519 sign` adds one"
  }

  /// The next step if the clock of this machine is behind.
  package static var clockHint: String { "correct the clock of this machine, which `date` shows" }

  /// The hint for an item that can only be restored from an older copy.
  static var damageHint: String {
    "restore it from git or a backup; `keytree check` checks all items"
  }

  package init(_ error: FileError) {
    let path = error.path
    // No command works without these files, not even `check`.
    let isNeeded = error.path.hasPrefix("policy.json") || error.path.hasPrefix("keys/")
    let hint =
      isNeeded
      ? "restore it from git or a backup"
      : "`keytree check` lists everything that does not belong in the store"
    switch error.reason {
    case .system(let number):
      self.init(
        .failure, "cannot \(error.operation) \(path): \(Self.systemMessage(number))", hint: Self.hint(number))
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
    let (name, reason): (String?, String) =
      switch error {
      case .wrongClass(let name, let itemClass):
        (name.text, "items of class \(itemClass.rawValue) do not have it")
      case .wrongKind(let name, let expected, _): (name.text, "its type is \(expected.rawValue)")
      case .valueTooLong(let name, let limit): (name.text, "it is longer than \(limit) bytes")
      case .integerOutOfRange(let name): (name.text, "the number is not between -2^53 and 2^53")
      case .emptyName: (nil, "an attribute needs a name")
      case .nameTooLong(let name, let limit): (name.text, "its name is longer than \(limit) bytes")
      case .controlCharacterInName(let name): (name.text, "its name contains a control character")
      case .reservedName(let name): (name.text, "it is reserved")
      case .invalidFieldName: (AttributeName.field.text, Self.fieldRule)
      case .tooMany(let limit): (nil, "an item has at most \(limit) attributes")
      }
    self.init(
      .usage, name.map { "cannot use the attribute \($0): \(reason)" } ?? reason,
      hint: "`keytree help add` lists the options; any other name is a custom attribute")
  }

  /// Creates the report for an error of GnuPG, with the item if the error concerns one.
  package init(_ error: EngineError, item: String?) {
    let doctor = "`keytree doctor` shows the agent, its socket, the keys and their problems"
    let subject = item.map { "cannot decrypt \($0)" } ?? "cannot use OpenPGP"
    // Signing a new item needs the key, just as decrypting an old one does.
    let unlocking = item.map { "cannot unlock your key for \($0)" } ?? "cannot unlock your key"
    switch error {
    case .cancelled:
      self.init(
        .cancelled, "\(unlocking): the passphrase was not given",
        hint: "run the command again and enter the passphrase of your key")
    case .noPromptPossible:
      self.init(
        .cancelled, "\(unlocking): no prompt for its passphrase is possible",
        hint:
          "run the command on a terminal without `--no-input` (and with `GPG_TTY=$(tty)`); a machine without one "
          + "unlocks the key with `gpg-preset-passphrase`, see the page Servers of the documentation")
    case .restrictedAgent:
      self.init(
        .cancelled, "\(unlocking): the GnuPG agent is reached over its restricted socket",
        hint: "over this socket your key can be used only if the agent may prompt: not with `--no-input`, "
          + "and not for items that ask each time")
    case .badPassphrase:
      self.init(
        .cannotDecrypt, "\(unlocking): the passphrase was wrong",
        hint: "run the command again and enter the passphrase of your key")
    case .notARecipient(let recipients):
      let keys = recipients.map(\.text).joined(separator: ", ")
      self.init(
        .cannotDecrypt, "\(subject): it is encrypted to \(keys), and you have none of these keys",
        hint: doctor)
    case .corrupt:
      self.init(.damaged, "\(subject): the message is damaged", hint: Self.damageHint)
    case .alteredRecipients:
      self.init(
        .damaged, "\(subject): \(BindingMismatch.recipients.message)", hint: BindingMismatch.recipients.hint)
    case .messageOfAStore:
      self.init(
        .damaged, "\(subject): the file belongs to an item of a Keytree store", hint: Self.damageHint)
    case .notEncrypted:
      self.init(.damaged, "\(subject): the file contains no encrypted message", hint: Self.damageHint)
    case .tooLarge(let limit):
      self.init(
        .damaged, "\(subject): its contents are larger than \(limit) bytes", hint: Self.damageHint)
    case .message(let error):
      self.init(.damaged, "\(subject): \(error.message)", hint: Self.damageHint)
    case .unusableKey(let fingerprint, .fromFuture(let time)):
      self.init(
        .recipientUnusable,
        "key \(fingerprint.text) was created in the future (\(time.day)): the clock of this machine is behind",
        hint: Self.clockHint)
    case .unusableKey(let person, .noSigningSecret(let id)):
      self.init(
        .recipientUnusable,
        "cannot write: the secret of the signing subkey \(id.text) is not on this machine",
        hint: Self.signingHint(person))
    case .unusableKey(let person, .revokedHere(let id)):
      self.init(
        .recipientUnusable, "cannot write: your GnuPG keyring revokes your signing subkey \(id.text)",
        hint: Self.signingHint(person))
    case .unusableKey(let person, .cannotSign):
      self.init(
        .recipientUnusable,
        "cannot use the key \(person.text): \(KeyProblem.cannotSign.message)",
        hint:
          "`gpg --quick-add-key \(person.text) ed25519 sign` adds one; `keytree group refresh` imports it into a "
          + "store")
    case .unusableKey(let fingerprint, let problem):
      self.init(
        .recipientUnusable, "cannot use the key \(fingerprint.text): \(problem.message)",
        hint: problem.upgradeHint
          ?? (problem.isExpired
            ? "`gpg --list-keys --with-subkey-fingerprint \(fingerprint.text)` shows what has expired; `keytree group "
              + "refresh` imports the renewed key into a store"
            : doctor))
    case .foreignSubkey(let foreign):
      self.init(
        .recipientUnusable, "cannot use the keys together: \(foreign.message)",
        hint: "ask the owner of \(foreign.person.text) for a key file without that subkey")
    case .noRecipients:
      self.init(.recipientUnusable, "cannot encrypt: there are no recipients", hint: doctor)
    case .wrongRecipients(let expected, let found, let setting):
      let lists = [expected, found].map { $0.map(\.text).joined(separator: " ") }
      self.init(
        .recipientUnusable,
        "nothing was stored: GnuPG encrypted to \(lists[1]) instead of \(lists[0])",
        hint: setting.map { "check `\($0)` in your GnuPG configuration" } ?? doctor)
    case .agentUnreachable(let detail):
      self.init(.cannotDecrypt, "cannot reach the GnuPG agent: \(detail)", hint: doctor)
    case .engineMissing(let detail):
      self.init(
        .failure, "cannot find GnuPG: \(detail)", hint: "`apt install gnupg` installs it")
    case .engineTooOld(let version):
      self.init(
        .failure, "cannot use GnuPG \(version): it must be 2.2.36 or newer",
        hint: "install a newer version and put it first in `PATH`")
    case .unsafeEngine(let path, let reason):
      self.init(
        .failure, "cannot use \(path) for GnuPG: \(reason)",
        hint: "only you or root may own and change the programs and folders of GnuPG, and "
          + "`$XDG_RUNTIME_DIR` (or `$XDG_CACHE_HOME`) must be a folder that you can write to")
    case .incomplete(let detail):
      self.init(
        .failure, "\(subject): GnuPG ended too early, so nothing is known about its result: \(detail)",
        hint: "run the command again; nothing was refused or removed because of this error")
    case .other(let code, let source, let text):
      self.init(
        .failure, "\(subject): GnuPG reported: \(text) (\(source), \(code))", hint: doctor)
    }
  }
}

extension BindingMismatch {
  /// The hint for the mismatch.
  fileprivate var hint: String {
    switch self {
    case .index: "`keytree check --repair` rebuilds the index from the signed records"
    case .condition(.group): "the item was moved to another group; check it, and run the command again"
    case .unauthorizedMove: "ask a member of the previous group to move the item"
    case .keyring, .place, .condition, .readers, .recipients:
      "a file was moved or replaced; `keytree check` checks all items"
    }
  }
}
