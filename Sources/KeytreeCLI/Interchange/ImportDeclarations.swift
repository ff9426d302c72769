internal import Arguments
internal import CommandSupport

// The formats of `keytree import`, each with its declaration.
extension ImportCommand {
  static let dryRun = OptionDeclaration(
    "dry-run", help: "only report what becomes what, and what would be lost; nothing is changed")
  static let acceptLoss = OptionDeclaration(
    "accept-loss", help: "import the rest although something would be lost")
  static let local = OptionDeclaration("local", help: "keep all items on this machine, out of git")
  static let map = OptionDeclaration(
    "map", .required(ValueDeclaration("COLUMN=NAME", .text)),
    help: "what a column is: `secret`, `note`, `otp`, `url`, or the attribute it becomes", isRepeatable: true)
  static let unknownAsAttributes = OptionDeclaration(
    "unknown-as-attributes",
    help: "make fields that nobody knows custom attributes, which are public, in place of sealing them")

  private static func file(_ help: String) -> OperandDeclaration {
    OperandDeclaration("FILE", .text, completion: .file, help: help)
  }

  private static let textFile = file("the file, `-` for standard input")
  private static let codes: [Int32] = [3, 4, 7, 8, 9, 10, 11, 12]

  static let pass = CommandDeclaration(
    name: "pass", summary: "bring a store of pass over",
    details: [
      "The first line of a file is the secret, exact to its last byte. Everything after it is kept, byte for "
        + "byte, in the field `note`, and an `otpauth` URI becomes the field `otp` as well. "
        + "`folder/host/name` becomes an internet password of that host, anything else a generic one; the "
        + "attribute `pass` keeps the path.",
      "Links are not followed: a link inside of the store is kept as a second name. Files for other people's "
        + "keys, stray files and links that lead out of the store are losses.",
    ],
    operands: [
      OperandDeclaration(
        "DIR", .text, completion: .folder, help: "the folder, most often `~/.password-store`")
    ],
    options: [dryRun, acceptLoss, local, AttributeOptions.group],
    examples: [
      Example("keytree import pass ~/.password-store --dry-run", "reports, changes nothing"),
      Example("keytree import pass ~/.password-store", "imports everything, or nothing"),
    ],
    exitCodes: codes)
  static let csv = CommandDeclaration(
    name: "csv", summary: "bring a CSV file over",
    details: [
      "The program it comes from is told by its first row: Chrome, Edge, Brave, Firefox, Apple Passwords, "
        + "Bitwarden, 1Password, KeePassXC, KeePass 1, LastPass, Dashlane, NordPass, Proton Pass. Notes, one-time "
        + "passwords and columns that nobody knows become fields of the login, never attributes: "
        + "attributes are public. `--unknown-as-attributes` makes such columns attributes nevertheless.",
      "The path of a URL stays public, a token in it as well.",
    ],
    operands: [textFile],
    options: [map, unknownAsAttributes, dryRun, acceptLoss, local, AttributeOptions.group],
    examples: [
      Example("keytree import csv passwords.csv", "imports what a browser has exported"),
      Example(
        "keytree import csv vault.csv --map login=account --map pw=secret --map site=url",
        "the columns of another program"),
    ],
    exitCodes: codes)
  static let bitwarden = CommandDeclaration(
    name: "bitwarden", summary: "bring an unencrypted JSON export of Bitwarden over",
    details: [
      "Logins, notes, cards, identities and SSH keys; custom fields and older passwords are sealed beside them. "
        + "What is in the trash is skipped; passkeys are losses. An encrypted export is refused."
    ],
    operands: [textFile], options: [unknownAsAttributes, dryRun, acceptLoss, local, AttributeOptions.group],
    examples: [Example("keytree import bitwarden vault.json --dry-run", "reports, changes nothing")],
    exitCodes: codes)
  static let onePassword = CommandDeclaration(
    name: "1pux", summary: "bring a 1PUX export of 1Password over",
    details: [
      "All fields of all sections, documents and older passwords are sealed beside the password. What was "
        + "deleted is skipped; passkeys and files of more than 1 MiB are losses. The archive is read in memory, "
        + "nothing of it is unpacked to the disk."
    ],
    operands: [file("the archive")],
    options: [unknownAsAttributes, dryRun, acceptLoss, local, AttributeOptions.group],
    examples: [Example("keytree import 1pux vault.1pux", "imports everything, or nothing")],
    exitCodes: codes)
  static let keePass = CommandDeclaration(
    name: "keepass-xml", summary: "bring an XML export of KeePass over",
    details: [
      "Groups become the attribute `folder`; further strings, attached files and older versions are sealed beside "
        + "the password. The recycle bin is skipped; files of more than 1 MiB are losses. A document type is "
        + "refused, so there are no entities."
    ],
    operands: [textFile], options: [unknownAsAttributes, dryRun, acceptLoss, local, AttributeOptions.group],
    examples: [
      Example("keytree import keepass-xml vault.xml", "imports what KeePass or KeePassXC has exported")
    ],
    exitCodes: codes)
  static let netrc = CommandDeclaration(
    name: "netrc", summary: "bring a .netrc or .authinfo over",
    details: [
      "Each `machine` becomes an internet password; `default` becomes a generic password of the service "
        + "`default`. `macdef` is a loss."
    ],
    operands: [textFile], options: [dryRun, acceptLoss, local, AttributeOptions.group],
    examples: [
      Example("keytree import netrc ~/.netrc", "imports every machine"),
      Example("gpg -d ~/.authinfo.gpg | keytree import netrc -", "imports a file that is encrypted"),
    ],
    exitCodes: codes)
  static let keychainDump = CommandDeclaration(
    name: "keychain-dump", summary: "bring a dump of a macOS keychain over",
    details: [
      "The text that `security dump-keychain -d` prints on a Mac. Passwords and secure notes keep their "
        + "attributes; certificates and keys, which a dump does not have, are losses."
    ],
    operands: [textFile], options: [dryRun, acceptLoss, local, AttributeOptions.group],
    examples: [Example("keytree import keychain-dump login.txt --dry-run", "reports, changes nothing")],
    exitCodes: codes)
  static let json = CommandDeclaration(
    name: "json", summary: "bring an export of keytree over",
    details: [
      "What `keytree export json` has written: every attribute and the exact secret. The items get new ids and "
        + "times; they stay in the groups they were in where this keyring has these, unless `--group` says "
        + "otherwise, and what was kept on one machine alone stays on this one."
    ],
    operands: [textFile], options: [dryRun, acceptLoss, local, AttributeOptions.group],
    examples: [Example("gpg -d keyring.json.gpg | keytree import json -", "imports a sealed export")],
    exitCodes: codes)
}
