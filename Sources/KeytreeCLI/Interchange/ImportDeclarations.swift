internal import Arguments
internal import CommandSupport
internal import Interchange

// The formats of `keytree import`, each with its declaration.
extension ImportCommand {
  static let dryRun = OptionDeclaration(
    "dry-run", help: "only report how much would be imported and what needs attention; nothing is changed")
  static let decrypt = OptionDeclaration(
    "decrypt",
    help: "with `--dry-run`: decrypt a pass store, to report its fields and what differs from the store")
  static let verbose = OptionDeclaration("verbose", short: "v", help: "report every entry")
  static let update = OptionDeclaration(
    "update", help: "replace the secrets of logins that are in the store with another secret")
  static let acceptLoss = OptionDeclaration(
    "accept-loss", help: "import even if some data is lost")
  static let local = OptionDeclaration("local", help: "keep all items only on this machine, not in git")
  static let map = OptionDeclaration(
    "map", .required(ValueDeclaration("COLUMN=NAME", .text)),
    help: "the meaning of a column: `secret`, `note`, `otp`, `url` or an attribute", isRepeatable: true)
  static let encoding = OptionDeclaration(
    "encoding",
    .required(
      ValueDeclaration("ENCODING", .choice(TextEncoding.allCases.map(\.rawValue)))),
    help:
      "convert the file from this encoding: \(TextEncoding.allCases.map(\.rawValue).joined(separator: ", "))")
  static let unknownAsAttributes = OptionDeclaration(
    "unknown-as-attributes",
    help: "import unknown fields as custom attributes, which are public, instead of encrypted fields")

  /// The options of the command itself, which every format has as well.
  static let common = [update, dryRun, decrypt, verbose, acceptLoss, local, AttributeOptions.group]

  private static func file(_ help: String) -> OperandDeclaration {
    OperandDeclaration("FILE", .text, completion: .file, help: help)
  }

  private static let textFile = file("the file, `-` for standard input")
  static let codes: [Int32] = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14]

  static let pass = CommandDeclaration(
    name: "pass", summary: "import a pass store",
    details: [
      "The first line of a file becomes the secret, exact to the last byte. A line `login:`, `username:` or `user:` "
        + "becomes the account, `url:` the attribute `url`, and an `otpauth` URI the field `otp`. All other lines are "
        + "kept, byte for byte, in the field `note`.",
      "`folder/host/name` becomes an internet password of that host, and so does `folder/host` with the account of its "
        + "`login:` line. Any other path becomes a generic password. The attribute `pass` keeps the path.",
      "In a file with headers of gopass (`GOPASS-SECRET-1.0`), the header `Password` is the secret, and the other headers "
        + "and the text are lines.",
      "Links are not followed: a link inside the store is kept as a second name. Files encrypted to other people's "
        + "keys, stray files and links that lead out of the store are reported as lost.",
      "A dry run reads the names and the recipients of the files and decrypts nothing, unless you give `--decrypt`.",
    ],
    operands: [
      OperandDeclaration(
        "DIR", .text, count: .optional, completion: .folder,
        help: "the folder (default with `--dry-run`: `~/.password-store`)")
    ],
    examples: [
      Example("keytree import pass ~/.password-store --dry-run", "reports, and changes nothing"),
      Example("keytree import pass ~/.password-store", "imports everything, or nothing"),
    ],
    exitCodes: codes)
  static let csv = CommandDeclaration(
    name: "csv", summary: "import a CSV file",
    details: [
      "The first row identifies the program that wrote the file: Chrome, Edge, Brave, Firefox, Apple Passwords, "
        + "Bitwarden, 1Password, KeePassXC, KeePass 1, LastPass, Dashlane, NordPass, Proton Pass or Buttercup. Notes, "
        + "one-time passwords and unknown columns become fields of the login, not attributes, because attributes are public. "
        + "With `--unknown-as-attributes`, unknown columns become attributes.",
      "The path of a URL is public, including a token in it. Fields are separated by commas, semicolons or tabs. Rows "
        + "that only name a folder are skipped; a row with another number of fields than the first one is reported as "
        + "lost. A file that is not UTF-8 is imported byte for byte, unless `--encoding` converts it.",
    ],
    operands: [textFile],
    options: [map, encoding, unknownAsAttributes],
    examples: [
      Example("keytree import csv passwords.csv", "imports the export of a browser"),
      Example(
        "keytree import csv vault.csv --map login=account --map pw=secret --map site=url",
        "imports the columns of another program"),
    ],
    exitCodes: codes)
  static let bitwarden = CommandDeclaration(
    name: "bitwarden", summary: "import an unencrypted JSON export of Bitwarden",
    details: [
      "Imports entries of all types. Custom fields and older passwords are encrypted with "
        + "them. Items in the trash are skipped; passkeys are reported as lost. An encrypted export is refused."
    ],
    operands: [textFile], options: [unknownAsAttributes],
    examples: [Example("keytree import bitwarden vault.json --dry-run", "reports, and changes nothing")],
    exitCodes: codes)
  static let enpass = CommandDeclaration(
    name: "enpass", summary: "import a JSON export of Enpass",
    details: [
      "Imports all entries with their fields, older values and attached files of up to 1 MiB. Items in the trash and "
        + "deleted fields are skipped."
    ],
    operands: [textFile], options: [unknownAsAttributes],
    examples: [
      Example("keytree import enpass vault.json --dry-run", "reports, and changes nothing")
    ],
    exitCodes: codes)
  static let onePassword = CommandDeclaration(
    name: "1pux", summary: "import a 1PUX export of 1Password",
    details: [
      "All fields of all sections, documents and older passwords are encrypted with the password. Deleted items are "
        + "skipped; passkeys and files of more than 1 MiB are reported as lost. The archive is read in memory, and "
        + "nothing in it is unpacked to the disk."
    ],
    operands: [file("the archive")],
    options: [unknownAsAttributes],
    examples: [Example("keytree import 1pux vault.1pux", "imports everything, or nothing")],
    exitCodes: codes)
  static let keePass = CommandDeclaration(
    name: "keepass-xml", summary: "import an XML export of KeePass",
    details: [
      "Groups become the attribute `folder`. Additional strings, attached files and older versions are encrypted with "
        + "the password. Seeds of KeePass, KeeOtp, KeeTrayTOTP and KeePassXC become the field `otp`. The recycle bin is "
        + "skipped; passkeys and files of more than 1 MiB are reported as lost. A document type "
        + "declaration is refused, so the file cannot define entities."
    ],
    operands: [textFile], options: [unknownAsAttributes],
    examples: [
      Example("keytree import keepass-xml vault.xml", "imports an export of KeePass or KeePassXC")
    ],
    exitCodes: codes)
  static let netrc = CommandDeclaration(
    name: "netrc", summary: "import a .netrc or .authinfo file",
    details: [
      "Each `machine` becomes an internet password; `default` becomes a generic password of the service `default`. "
        + "`macdef` is reported as lost; it ends at the first empty line."
    ],
    operands: [textFile],
    examples: [
      Example("keytree import netrc ~/.netrc", "imports every machine"),
      Example("gpg -d ~/.authinfo.gpg | keytree import netrc -", "imports an encrypted file"),
    ],
    exitCodes: codes)
  static let keychainDump = CommandDeclaration(
    name: "keychain-dump", summary: "import a dump of a macOS keychain",
    details: [
      "Reads the text that `security dump-keychain -d` prints on a Mac. Passwords and secure notes keep their "
        + "attributes; certificates and keys, which a dump does not contain, are reported as lost."
    ],
    operands: [textFile],
    examples: [Example("keytree import keychain-dump login.txt --dry-run", "reports, and changes nothing")],
    exitCodes: codes)
  static let json = CommandDeclaration(
    name: "json", summary: "import an export of keytree",
    details: [
      "Reads the output of `keytree export json`: every attribute and the exact secret. The items get new ids and "
        + "times. They stay in their groups if this keyring has these groups, unless you give `--group`. Items that "
        + "were kept only on one machine are kept only on this machine."
    ],
    operands: [textFile],
    examples: [Example("gpg -d keyring.json.gpg | keytree import json -", "imports an encrypted export")],
    exitCodes: codes)
}
