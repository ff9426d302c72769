import Foundation

/// The events of a key's life, in the order of the table in the article about keys.
extension KeyEvent {
  static let all = signing + encryption + primary + names + files + replacements + clocks

  /// A date on which the keys of a prelude expire, and a time after it.
  private static let expiry = "20310101T000000"
  static let afterExpiry = "2031-03-01 12:00:00"
  private static let extended = "20350101T000000"
  static let ended = "has expired (2031-01-01)"
  private static let noSecret = "and you have none of these keys"

  private static func cannotEncrypt() -> KeyState { .cannotEncrypt(ended) }
  private static let refresh = "`keytree group refresh`"

  /// Gives parts of the owner's key an end date that the store knows.
  static func end(
    _ parts: @escaping @Sendable (KeyLifeWorld) throws -> [String]
  ) -> @Sendable (KeyLifeWorld) throws -> Void {
    { world in
      try world.setEnd(expiry, of: try parts(world))
      try world.succeed(.owner, "group", "refresh")
      try world.syncEverywhere()
    }
  }

  // MARK: Signing subkeys

  private static let signing: [KeyEvent] = [
    KeyEvent(name: "a new signing subkey", happen: { try $0.addSubkey("sign") }),
    KeyEvent(
      name: "a new signing subkey, the secret of the old one lost",
      happen: { world in
        let old = try world.signingSubkey
        try world.addSubkey("sign")
        try world.loseSecret(of: old)
      },
      before: .cannotSign(refresh)),
    KeyEvent(
      name: "the signing subkey expired, a new one made", now: afterExpiry,
      prelude: end { [try $0.signingSubkey] }, happen: { try $0.addSubkey("sign") },
      before: .signingExpired(refresh)),
    KeyEvent(
      name: "the signing subkey expired, no new one", now: afterExpiry,
      prelude: end { [try $0.signingSubkey] }, happen: { _ in },
      before: .signingExpired(ended), imports: [Import(prints: "No key has changed.")],
      after: .signingExpired("`gpg --quick-set-expire ")),
    KeyEvent(
      name: "the signing subkey superseded, a new one made",
      happen: { world in
        try world.addSubkey("sign")
        try world.revoke(1, .superseded)
      },
      before: .cannotSign(refresh)),
    KeyEvent(
      name: "the signing subkey compromised, a new one made",
      happen: { world in
        try world.addSubkey("sign")
        try world.revoke(1, .compromised)
      },
      before: .cannotSign(refresh),
      imports: [
        Import(code: 3, prints: "add `--fingerprint "),
        Import(words: Import.confirmed.words, prints: "is revoked as compromised."),
      ],
      after: KeyState(compromised: true)),
    KeyEvent(
      name: "the signing subkey of the owner compromised, imported by another admin",
      happen: { world in
        try world.addSubkey("sign")
        try world.revoke(1, .compromised)
      },
      before: .cannotSign(refresh),
      imports: [
        Import(
          person: .admin, words: ["group", "refresh", "FILE", "--fingerprint", "OWNER"],
          prints: "your signature replaces it")
      ],
      after: KeyState(compromised: true)),
  ]

  // MARK: Encryption subkeys

  private static let encryption: [KeyEvent] = [
    KeyEvent(
      name: "a new encryption subkey", happen: { try $0.addSubkey("encr") },
      imports: [.confirmed]),
    KeyEvent(
      name: "a new encryption subkey whose secret is elsewhere",
      happen: { world in
        try world.addSubkey("encr")
        try world.loseSecret(of: try world.subkeys(of: .owner)[2])
      },
      imports: [Import(prints: "kept encryption subkey ")]),
    KeyEvent(
      name: "the encryption subkey expired, a new one made", now: afterExpiry,
      prelude: end { [try $0.encryptionSubkey] }, happen: { try $0.addSubkey("encr") },
      before: cannotEncrypt(), imports: [.confirmed]),
    KeyEvent(
      name: "the encryption subkey superseded, a new one made",
      happen: { world in
        try world.addSubkey("encr")
        try world.revoke(2, .superseded)
      },
      imports: [.confirmed]),
    KeyEvent(
      name: "the encryption subkey compromised, a new one made",
      happen: { world in
        try world.addSubkey("encr")
        try world.revoke(2, .compromised)
      },
      imports: [.confirmed], rotation: "owner.example/a"),
    KeyEvent(
      name: "the secret of the encryption subkey lost, a new one made",
      happen: { world in
        let old = try world.encryptionSubkey
        try world.addSubkey("encr")
        try world.loseSecret(of: old)
      },
      before: KeyState(reading: .init(code: 7, message: noSecret)),
      imports: [
        Import(person: .admin, words: ["group", "refresh", "FILE", "--fingerprint", "OWNER"])
      ], after: KeyState(oldVersions: .init(code: 7, message: noSecret), reencryptsRestored: true)),
  ]

  // MARK: Primary keys

  private static let primary: [KeyEvent] =
    [
      KeyEvent(
        name: "the primary key expired", now: afterExpiry, prelude: end { _ in [] }, happen: { _ in },
        before: .unusable(ended, ended), imports: [Import(prints: "No key has changed.")],
        after: .unusable("`gpg --quick-set-expire ", ended)),
      KeyEvent(
        name: "the primary key expired and was extended", now: afterExpiry, prelude: end { _ in [] },
        happen: { try $0.setEnd(extended, of: []) }, before: .unusable(refresh, ended)),
      KeyEvent(
        name: "the subkeys expired and were extended", now: afterExpiry,
        prelude: end { try $0.subkeys(of: .owner) },
        happen: { try $0.setEnd(extended, of: try $0.subkeys(of: .owner)) },
        before: .unusable(refresh, ended)),
    ]
    + KeyLifeWorld.Reason.allCases.map { reason in
      KeyEvent(
        name: "the primary key revoked: \(reason)", happen: { try $0.revoke(0, reason) },
        before: .cannotSign("revoke"), imports: [.refused],
        after: KeyState(
          signing: .init(code: 10, message: "revoke"), refreshing: .init(code: 10, message: "is revoked (")))
    }

  // MARK: Names

  private static let newName = "Olivia Owner <olivia@life.example>"

  private static let names: [KeyEvent] = [
    KeyEvent(
      name: "a user id added",
      happen: { try $0.gpg(.owner, ["--quick-add-uid", try $0.fingerprint(of: .owner), newName]) },
      imports: [.confirmed]),
    KeyEvent(
      name: "another primary user id",
      happen: { world in
        let key = try world.fingerprint(of: .owner)
        try world.gpg(.owner, ["--quick-add-uid", key, newName])
        try world.gpg(.owner, ["--quick-set-primary-uid", key, newName])
      },
      imports: [
        Import(code: 3, prints: "new name"), Import(words: Import.confirmed.words, prints: "Olivia Owner"),
      ]),
    KeyEvent(
      name: "the old user id revoked",
      happen: { world in
        let key = try world.fingerprint(of: .owner)
        try world.gpg(.owner, ["--quick-add-uid", key, newName])
        try world.gpg(.owner, ["--quick-revoke-uid", key, KeyLifeWorld.Person.owner.userID])
      },
      imports: [Import(words: Import.confirmed.words, prints: "Olivia Owner")]),
    KeyEvent(
      name: "the address of another person added",
      happen: { world in
        let key = try world.fingerprint(of: .owner)
        try world.gpg(.owner, ["--quick-add-uid", key, "Owner <member@life.example>"])
      },
      imports: [Import(words: Import.confirmed.words, code: 10, prints: "of another person")],
      after: KeyState(refreshing: .init(code: 10, message: "of another person"))),
  ]

  // MARK: Files

  private static func file(
    _ name: String, _ options: [String], _ more: @escaping @Sendable (KeyLifeWorld) throws -> Void = { _ in }
  ) -> KeyEvent {
    KeyEvent(
      name: name,
      happen: { world in
        try world.addSubkey("sign")
        try more(world)
        try world.export(.owner, to: "FILE", options: options)
      },
      imports: [.byAdmin])
  }

  /// Lets another person sign the owner's key.
  ///
  /// - Parameters:
  ///   - count: The number of signatures.
  ///   - size: The number of bytes of a notation in each signature.
  @Sendable private static func sign(_ world: KeyLifeWorld, _ count: Int, _ size: Int) throws {
    let key = try world.fingerprint(of: .owner)
    let note = String(repeating: "x", count: size)
    try world.gpg(.guest, ["--import", world.export(.owner)])
    for number in 0..<count {
      let words = ["--expert", "--force-sign-key", "--cert-notation", "n\(number)@life.example=\(note)"]
      try world.gpg(.guest, words + ["--quick-sign-key", key])
    }
    try world.gpg(.guest, ["--armor", "--output", world.file("signed"), "--export", key])
    try world.gpg(.owner, ["--import-options", "no-import-clean", "--import", world.file("signed")])
  }

  private static let files: [KeyEvent] = [
    file(
      "a key file without a user id",
      ["--export-filter", "keep-uid=uid=none", "--export-options", "export-minimal"]),
    file("a minimal key file", ["--armor", "--export-options", "export-minimal"]),
    file("a binary key file", []),
    file("a key file with signatures of others", ["--armor"]) { try sign($0, 1, 10) },
    KeyEvent(
      name: "a key of more than 100 KB in the keyring",
      happen: { world in
        try world.addSubkey("sign")
        try sign(world, 14, 8000)
      }),
  ]

  // MARK: Replacement

  private static func replacement(of person: String, by admin: KeyLifeWorld.Person) -> [Import] {
    let words = ["group", "replace", person, "NEWKEY", "--fingerprint", "NEW"]
    return [Import(person: admin, words: words, prints: "Replaced the key of")]
  }

  private static let replacements: [KeyEvent] = [
    KeyEvent(
      name: "a new key, the secrets of both here", happen: { try $0.makeNewKey(of: .owner) },
      imports: replacement(of: "OWNER", by: .owner), replaces: .owner),
    KeyEvent(
      name: "a new key, only the new secret here",
      happen: { world in
        try world.makeNewKey(of: .owner)
        for subkey in try world.subkeys(of: .owner).prefix(2) { try world.loseSecret(of: subkey) }
      },
      before: KeyState(
        reading: .init(code: 7, message: "group replace"), signing: .init(code: 10, message: "group replace")),
      imports: replacement(of: "OWNER", by: .admin), replaces: .owner,
      after: KeyState(oldVersions: .init(code: 7, message: noSecret), reencryptsRestored: true)),
    KeyEvent(
      name: "the key of a member replaced by an admin",
      happen: { world in
        try world.makeNewKey(of: .member)
        let secret = try world.gpg(.member, ["--armor", "--export-secret-keys", "new@life.example"])
        try world.gpg(.newcomer, ["--import"], input: secret)
      },
      imports: replacement(of: "MEMBER", by: .admin), replaces: .member),
  ]

  // MARK: Clocks

  private static func clock(_ name: String, _ now: String, _ state: KeyState) -> KeyEvent {
    KeyEvent(
      name: name, now: now,
      happen: { world in
        world.now = "2030-06-01 12:00:00"
        try world.addSubkey("sign")
        try world.succeed(.owner, "group", "refresh")
        try world.syncEverywhere()
      },
      before: state, imports: [Import(prints: "No key has changed.")], after: state)
  }

  private static let clocks: [KeyEvent] = [
    clock("a clock that is four minutes behind", "2030-06-01 11:56:00", .fine),
    clock(
      "a clock that is a month behind", "2030-05-01 12:00:00",
      KeyState(
        signing: .init(
          code: 10, message: "was created in the future (2030-06-01): the clock of this machine is behind"),
        clock: "it was created in the future (2030-06-01)")),
    KeyEvent(
      name: "two expired keys, both extended", now: afterExpiry,
      prelude: { world in
        try world.setEnd(expiry, of: [], .member)
        try world.gpg(.owner, ["--import", world.export(.member)])
        try end { _ in [] }(world)
      },
      happen: { world in
        try world.setEnd(extended, of: [])
        try world.setEnd(extended, of: [], .member)
        try world.gpg(.owner, ["--import", world.export(.member)])
      },
      before: .unusable(refresh, ended, member: "send an admin the output of")),
  ]
}
