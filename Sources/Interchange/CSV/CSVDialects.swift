internal import KeyringModel

extension CSVDialect {
  /// The programs whose files are recognised. If several have the columns of a file and understand as many of those that
  /// are filled, the first one is used, so programs with more columns come before those with few. Additional columns are
  /// treated as unknown columns.
  static let known: [CSVDialect] = [
    firefox, bitwarden, bitwardenOrganization, onePassword8, keePassXC, keePass1, lastPass, dashlane,
    nordPass,
    protonPass, buttercup, onePassword7, onePassword6, apple, chrome,
  ]

  private static let firefox = CSVDialect(
    name: "Firefox",
    required: [
      "url": .url, "username": .account, "password": .secret, "httprealm": .securityDomain,
      "formactionorigin": .attribute("formActionOrigin"),
    ],
    optional: [
      "guid": .attribute("guid"), "timecreated": .attribute("timeCreated"),
      "timelastused": .attribute("timeLastUsed"), "timepasswordchanged": .attribute("timePasswordChanged"),
    ])

  // bitwarden.com/help/condition-bitwarden-import
  private static let bitwardenColumns: [String: CSVColumn] = [
    "name": .label, "login_uri": .urls, "login_username": .account, "login_password": .secret,
  ]
  private static let bitwardenFurther: [String: CSVColumn] = [
    "type": .recordType, "notes": .note, "fields": .fields, "login_totp": .oneTimePassword,
    "reprompt": .attribute("reprompt"), "archiveddate": .attribute("archivedDate"),
  ]
  private static let bitwarden = CSVDialect(
    name: "Bitwarden",
    required: bitwardenColumns.merging(["folder": .attribute("folder")]) { first, _ in first },
    optional: bitwardenFurther)
  private static let bitwardenOrganization = CSVDialect(
    name: "Bitwarden (organisation)",
    required: bitwardenColumns.merging(["collections": .attribute("collections")]) { first, _ in first },
    optional: bitwardenFurther)

  private static let onePassword8 = CSVDialect(
    name: "1Password",
    required: [
      "title": .label, "url": .url, "username": .account, "password": .secret, "otpauth": .oneTimePassword,
      "favorite": .attribute("favorite"), "archived": .attribute("archived"),
    ],
    optional: ["notes": .note, "tags": .attribute("tags")])
  private static let onePassword7 = CSVDialect(
    name: "1Password 7",
    required: ["title": .label, "website": .url, "username": .account, "password": .secret],
    optional: onePasswordOlder)
  private static let onePassword6 = CSVDialect(
    name: "1Password 6",
    required: ["title": .label, "url": .url, "username": .account, "password": .secret, "type": .recordType],
    optional: onePasswordOlder)
  private static let onePasswordOlder: [String: CSVColumn] = [
    // An export of all fields has two columns for URLs, of which one is usually empty.
    "url": .url, "website": .url,
    "notes": .note, "type": .recordType, "tags": .attribute("tags"), "urls": .urls,
    "one-time password": .oneTimePassword, "otpauth": .oneTimePassword, "uuid": .attribute("uuid"),
    "created date": .attribute("creationDate"), "modified date": .attribute("revisionDate"),
  ]

  // The first six columns exist in all versions (src/format/CsvExporter.cpp).
  private static let keePassXC = CSVDialect(
    name: "KeePassXC",
    required: [
      "group": .attribute("folder"), "title": .label, "username": .account, "password": .secret, "url": .url,
      "notes": .note,
    ],
    optional: [
      "totp": .oneTimePassword, "icon": .attribute("icon"), "last modified": .attribute("revisionDate"),
      "created": .attribute("creationDate"),
    ])
  private static let keePass1 = CSVDialect(
    name: "KeePass 1",
    required: [
      "account": .label, "login name": .account, "password": .secret, "web site": .url, "comments": .note,
    ],
    optional: [:])

  private static let lastPass = CSVDialect(
    name: "LastPass",
    required: [
      "url": .urlOrMark, "username": .account, "password": .secret, "extra": .note, "name": .label,
      "grouping": .attribute("grouping"),
    ],
    optional: ["totp": .oneTimePassword, "fav": .attribute("fav")])

  private static let dashlane = CSVDialect(
    name: "Dashlane",
    required: [
      "username": .account, "username2": .attribute("username2"), "username3": .attribute("username3"),
      "title": .label, "password": .secret, "url": .url,
    ],
    optional: [
      "note": .note, "category": .attribute("category"), "otpurl": .oneTimePassword,
      "otpsecret": .oneTimePassword,
    ])
  private static let nordPass = CSVDialect(
    name: "NordPass",
    required: [
      "name": .label, "url": .url, "username": .account, "password": .secret, "note": .note,
      "cardholdername": .sealed("cardholdername"), "folder": .attribute("folder"),
    ],
    optional: [
      "type": .recordType, "cardnumber": .sealed("cardnumber"), "cvc": .sealed("cvc"), "pin": .sealed("pin"),
      "expirydate": .sealed("expirydate"), "additional_urls": .urls, "custom_fields": .fieldsInJSON,
    ])
  private static let protonPass = CSVDialect(
    name: "Proton Pass",
    required: [
      "type": .recordType, "name": .label, "url": .urls, "username": .account, "password": .secret,
      "note": .note, "totp": .oneTimePassword,
    ],
    optional: [
      "email": .attribute("email"),
      "createtime": .attribute("creationDate"), "modifytime": .attribute("revisionDate"),
      "vault": .attribute("vault"),
    ])

  // A group is a row of its own.
  private static let buttercup = CSVDialect(
    name: "Buttercup",
    required: [
      "!group_id": .attribute("groupID"), "!group_name": .attribute("folder"), "title": .label,
      "username": .account, "password": .secret,
    ],
    optional: [
      "!type": .recordType, "!group_parent": .attribute("groupParent"), "url": .url, "note": .note,
      "notes": .note, "id": .attribute("uuid"),
    ])

  private static let apple = CSVDialect(
    name: "Apple Passwords",
    required: ["title": .label, "url": .url, "username": .account, "password": .secret],
    optional: ["notes": .note, "otpauth": .oneTimePassword])
  private static let chrome = CSVDialect(
    name: "Chrome, Edge or Brave",
    required: ["name": .label, "url": .url, "username": .account, "password": .secret],
    optional: ["note": .note])
}
