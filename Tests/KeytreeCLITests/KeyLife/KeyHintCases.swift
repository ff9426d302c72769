import Foundation
import TestSupport

extension KeyHintTests {
  static let cases: [Case] = expired + revoked + changed + examined

  private static let expired: [Case] = [
    Case(
      name: "the primary key has expired", now: KeyEvent.afterExpiry, prelude: KeyEvent.end { _ in [] },
      happen: { _ in },
      message: "cannot write: your key ", typed: [(0, .owner), (1, .owner)]),
    Case(
      name: "the signing subkey has expired", now: KeyEvent.afterExpiry,
      prelude: KeyEvent.end { [try $0.signingSubkey] }, happen: { _ in },
      message: "cannot write: the signing subkey ", typed: [(0, .owner), (1, .owner)]),
    Case(
      name: "the encryption subkey has expired", now: KeyEvent.afterExpiry,
      prelude: KeyEvent.end { [try $0.encryptionSubkey] }, happen: { _ in },
      message: "cannot write: the encryption subkey ", typed: [(0, .owner), (1, .owner)]),
    Case(
      name: "both subkeys have expired", now: KeyEvent.afterExpiry,
      prelude: KeyEvent.end { try $0.subkeys(of: .owner) }, happen: { _ in },
      message: "cannot write: the encryption subkey ", typed: [(0, .owner), (1, .owner)]),
    Case(
      name: "all parts of the key have expired", now: KeyEvent.afterExpiry,
      prelude: { world in
        try KeyEvent.end { try $0.subkeys(of: .owner) }(world)
        try KeyEvent.end { _ in [] }(world)
      }, happen: { _ in },
      message: "cannot write: your key ", typed: [(0, .owner), (1, .owner)]),
    Case(
      name: "the key of another person has expired, and is extended", now: KeyEvent.afterExpiry,
      prelude: KeyEvent.end { _ in [] }, happen: { _ in }, person: .admin,
      message:
        "cannot encrypt for group \"default\": the key of Owner Example <owner@life.example> \(KeyEvent.ended)",
      typed: [(1, .admin)], names: ["KEYFILE": "FILE"],
      beforeTyping: { world in try world.setEnd("20350101T000000", of: []) }),
    Case(
      name: "the key of another person has expired, who is removed", now: KeyEvent.afterExpiry,
      prelude: KeyEvent.end { _ in [] }, happen: { _ in }, person: .admin,
      message: "cannot encrypt for group \"default\": the key of Owner Example", typed: [(2, .admin)]),
    Case(
      name: "sync warns about an expired key", now: KeyEvent.afterExpiry, prelude: KeyEvent.end { _ in [] },
      happen: { _ in },
      words: ["sync"], code: 0, message: "warning: the key of Owner Example <owner@life.example> has expired",
      typed: [],
      beforeTyping: { world in
        try world.setEnd("20350101T000000", of: [])
        try world.succeed(.owner, "group", "refresh")
      }),
  ]

  private static let revoked: [Case] = [
    Case(
      name: "the primary key is revoked, and replaced",
      happen: { world in
        try world.revoke(0, .compromised)
        try world.makeNewKey(of: .owner)
      },
      words: ["group", "refresh"],
      message: "the key of Owner Example <owner@life.example> is revoked (compromised",
      typed: [(0, .owner)], names: ["NEWKEY": "NEWKEY"], finally: (0, "No key has changed.")),
    Case(
      name: "the primary key of a member is revoked, and the member removed",
      happen: { world in
        try world.revoke(0, .superseded)
        try world.gpg(.admin, ["--import", world.export(.owner)])
      },
      person: .admin, words: ["group", "refresh"], message: "is revoked (superseded", typed: [(1, .admin)],
      finally: (0, "No key has changed.")),
    Case(
      name: "the signing subkey is revoked in the own keyring",
      happen: { world in
        try world.addSubkey("sign")
        try world.revoke(1, .superseded)
      },
      message: "revokes your signing subkey", typed: [(0, .owner)]),
  ]

  private static let changed: [Case] = [
    Case(
      name: "the secret of the signing subkey is missing",
      happen: { world in
        let old = try world.signingSubkey
        try world.addSubkey("sign")
        try world.loseSecret(of: old)
      },
      message: "the secret of the signing subkey ", typed: [(0, .owner)]),
    Case(
      name: "a member has a changed key", happen: { try $0.addSubkey("sign", to: .member) },
      person: .member, words: ["group", "refresh"], code: 9,
      message: "cannot change people or groups: you are not an admin", typed: [(0, .member), (1, .admin)],
      finally: (0, "No key has changed.")),
    Case(
      name: "the own keyring is newer", happen: { try $0.addSubkey("sign") }, words: ["status"], code: 0,
      message: "your key has changed in your GnuPG keyring: new signing subkey ", typed: [(0, .owner)]),
    Case(
      name: "only the secret of a new key is here",
      happen: { world in
        try world.makeNewKey(of: .owner)
        for subkey in try world.subkeys(of: .owner).prefix(2) { try world.loseSecret(of: subkey) }
      },
      words: ["get", "owner.example/a"], code: 7, message: "hint: send an admin the output of",
      typed: [(0, .owner), (1, .admin)], finally: (0, "two")),
    Case(
      name: "the clock is behind",
      happen: { world in
        world.now = "2030-06-10 12:00:00"
        try world.addSubkey("sign")
        try world.succeed(.owner, "group", "refresh")
        try world.syncEverywhere()
      },
      message: "the clock of this machine is behind\nhint: correct the clock", typed: [],
      beforeTyping: { world in world.now = "2030-06-10 12:01:00" }),
    Case(
      name: "a key file without a user id is added",
      happen: { world in
        let options = ["--export-filter", "keep-uid=uid=none", "--export-options", "export-minimal"]
        try world.export(.guest, to: "SENT", options: options)
      },
      words: ["--no-input", "group", "add", "ops", "SENT"], message: "has no user id", typed: [(0, .guest)],
      finally: (3, "the fingerprint must be confirmed")),
  ]

  /// A finding of `keytree doctor`. The first two texts between backquotes are about the terminal.
  private static let examined: [Case] = [
    Case(
      name: "doctor finds an expired signing subkey", now: KeyEvent.afterExpiry,
      prelude: KeyEvent.end { [try $0.signingSubkey] }, happen: { _ in }, words: ["doctor"], code: 13,
      message: "(you): it has expired", typed: [(2, .owner), (3, .owner)])
  ]
}
