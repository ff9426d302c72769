import Foundation
import Keyring
import KeyringModel
import TestSupport
import Testing

/// A change that an attacker with push access, but without an admin's key, makes to a store, and the finding for it.
struct VerifySabotage: Sendable, CustomStringConvertible {
  let description: String
  /// A part of the line that reports it.
  let words: String
  /// The exit status of `verify`.
  let status: Int32
  /// False if the fault is only visible in the history or in a commit, because git does not check it out.
  var isInFolder = true
  let act: @Sendable (VerifyFixture) throws -> Void

  init(
    _ description: String, _ words: String, status: Int32 = 13, isInFolder: Bool = true,
    _ act: @escaping @Sendable (VerifyFixture) throws -> Void
  ) {
    (self.description, self.words, self.status) = (description, words, status)
    (self.isInFolder, self.act) = (isInFolder, act)
  }

  private static let item = VerifyFixture.items[0]

  static let policies = [
    VerifySabotage("an added recipient, unsigned", "its signature is invalid", status: 9) { world in
      try world.forge.succeed([.join(GnuPGKey.bob.fingerprint, group: "default")], by: nil)
    },
    VerifySabotage("the old policy", "generation 1 follows generation 2", status: 9) { world in
      try world.program.git(["checkout", "-q", "main~1", "--", "policy.json", "policy.json.asc"])
    },
    VerifySabotage("the generation of another policy", "two different policies have generation 2", status: 9)
    {
      world in
      var policy = try world.forge.policy
      policy.groups["ops"] = [GnuPGKey.bob.fingerprint]
      try world.forge.write(policy.encode(), signedBy: .alice)
    },
    VerifySabotage(
      "signed by a member", "signed by \(GnuPGKey.bob.fingerprint.text), who is not an admin", status: 9
    ) { world in
      try world.forge.succeed([.role(GnuPGKey.bob.fingerprint, .admin)], by: .bob)
    },
    VerifySabotage(
      "signed by a stranger whom it lists", "signed with an unknown key (\(GnuPGKey.carol.fingerprint.text))",
      status: 9
    ) { world in
      try world.forge.succeed([PolicyForge.adding(.carol, .admin)], by: .carol)
    },
    VerifySabotage("no signature", "it has no signature", status: 9) { world in
      try world.forge.succeed([.create(group: "ops")], by: .alice)
      try FileManager.default.removeItem(atPath: "\(world.store)/policy.json.asc")
    },
    VerifySabotage("options in place of a fingerprint", "`groups` has an invalid value", status: 9) { world in
      let text = String(decoding: try world.forge.bytes("policy.json"), as: UTF8.self)
      let changed = text.replacing("[\"\(GnuPGKey.alice.fingerprint.text)\"]", with: "[\"--file=/x\"]")
      try world.forge.write(Array(changed.utf8), signedBy: .alice)
    },
  ]

  static let files = [
    VerifySabotage("a key file with another key", "it contains keys other than the one") { world in
      try world.forge.write(
        GnuPGKey.carol.publicKey, to: StoreLayout.keyFile(GnuPGKey.alice.fingerprint))
    },
    VerifySabotage("a key file with two keys", GnuPGKey.carol.fingerprint.text) { world in
      let file = StoreLayout.keyFile(GnuPGKey.alice.fingerprint)
      try world.forge.write(try world.forge.bytes(file) + GnuPGKey.carol.publicKey, to: file)
    },
    VerifySabotage("another file of the same key", "not the key file that the policy names") { world in
      try world.forge.write(
        GnuPGKey.bob.publicKey + [10], to: StoreLayout.keyFile(GnuPGKey.bob.fingerprint))
    },
    VerifySabotage("a secret key in a key file", "it contains a secret key") { world in
      try world.forge.write(GnuPGKey.bob.secretKey, to: StoreLayout.keyFile(GnuPGKey.bob.fingerprint))
    },
    VerifySabotage("a key file without a key", "it contains no key") { world in
      try world.forge.write([10], to: StoreLayout.keyFile(GnuPGKey.bob.fingerprint))
    },
    VerifySabotage("a missing key file", "this key cannot be used: it does not exist") { world in
      try FileManager.default.removeItem(
        atPath: "\(world.store)/\(StoreLayout.keyFile(GnuPGKey.bob.fingerprint))")
    },
    VerifySabotage("an item with an additional recipient", "its group has") { world in
      let message = try world.program.gnupg.encrypt([1], to: [.alice, .carol])
      try world.replace(item, with: message, signedBy: .alice)
    },
    VerifySabotage("an item for another recipient", "its group has") { world in
      try world.replace(item, with: try world.program.gnupg.encrypt([1], to: [.carol]), signedBy: .alice)
    },
    VerifySabotage(
      "another encrypted file, and a line for it", "`sealed` in the index differs from the signed record"
    ) { world in
      let message = try world.program.gnupg.encrypt([1], to: [.alice])
      try world.replace(item, with: message, signedBy: nil)
    },
    VerifySabotage("a record that a stranger signed", "its record is not signed by a member of its group") {
      world in
      let message = try world.program.gnupg.encrypt([1], to: [.alice])
      try world.replace(item, with: message, signedBy: .carol)
    },
    VerifySabotage(
      "a record signed by a person outside the group", "its record is not signed by a member of its group"
    ) { world in
      let message = try world.program.gnupg.encrypt([1], to: [.alice])
      try world.replace(item, with: message, signedBy: .bob)
    },
    VerifySabotage("an edited record and line", "its record was changed after it was signed") { world in
      let line = try world.forgeLine(item) { $0.attributes[.label] = "edited" }
      let old = try RecordFile(parsing: try world.forge.bytes(VerifyFixture.recordFile(item)))
      let new = RecordFile(line: try IndexLine.encode(line), record: line, proof: old.proof)
      try world.forge.write(new.bytes, to: VerifyFixture.recordFile(item))
    },
    VerifySabotage("an edited line", "`label` in the index differs from the signed record") { world in
      try world.forgeLine(item) { $0.attributes[.label] = "edited" }
    },
    VerifySabotage("swapped encrypted files", "its encrypted file is not the one that its record describes") {
      world in
      try world.swapFiles(item, VerifyFixture.items[1])
    },
    VerifySabotage("swapped items", "its record belongs to another item") { world in
      try world.swapFiles(item, VerifyFixture.items[1])
      try world.swapRecords(item, VerifyFixture.items[1])
    },
    VerifySabotage("a missing encrypted file", "the encrypted file of this item is missing") { world in
      try world.remove(VerifyFixture.file(item))
    },
    VerifySabotage("a missing record", "this file has no record") { world in
      try world.remove(VerifyFixture.recordFile(item))
    },
    VerifySabotage("both files of an item missing", "the item is in the index, but its files are missing") {
      world in
      for file in [VerifyFixture.file(item), VerifyFixture.recordFile(item)] { try world.remove(file) }
    },
    VerifySabotage("a missing line", "this item is not in the index") { world in
      let path = try #require(ItemPath(validating: "internet-password/\(item)"))
      try world.remove(StoreLayout.shardFile(path.shard, isLocal: false))
    },
    VerifySabotage("text in place of an item", "the file is not a binary OpenPGP message") { world in
      try world.replace(item, with: Array("open sesame\n".utf8), signedBy: .alice)
    },
    VerifySabotage("text beside the items", "this name does not belong in a store") { world in
      try world.forge.write(Array("open sesame\n".utf8), to: "items/internet-password/a.example/alice.txt")
    },
    VerifySabotage("a file at the top", "passwords.txt") { world in
      try world.forge.write([1], to: "passwords.txt")
    },
    VerifySabotage("a link in place of an item", "a symbolic link") { world in
      let path = "\(world.store)/\(VerifyFixture.file(item))"
      try world.remove(VerifyFixture.file(item))
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/etc/passwd")
    },
    VerifySabotage("an unreadable line", "cannot be read") { world in
      let path = ItemPath(validating: "internet-password/\(item)")
      let file = StoreLayout.shardFile(try #require(path).shard, isLocal: false)
      try world.forge.write(try world.forge.bytes(file) + Array("{}\n".utf8), to: file)
    },
    VerifySabotage("a duplicate line", "have the same path") { world in
      let path = ItemPath(validating: "internet-password/\(item)")
      let file = StoreLayout.shardFile(try #require(path).shard, isLocal: false)
      let bytes = try world.forge.bytes(file)
      try world.forge.write(bytes + bytes, to: file)
    },
  ]

  /// Faults that only commits can contain, because a store ignores these files, or git does not check them out.
  static let commits = [
    VerifySabotage("a file in keytree's own folder", "are local to each machine", isInFolder: false) {
      world in
      let name = try world.program.git(["rev-parse", "HEAD:policy.json"]).filter { !$0.isWhitespace }
      let file = ".keytree/transaction-1/commit.json"
      try world.program.git(["update-index", "--add", "--cacheinfo", "100644,\(name),\(file)"])
    },
    VerifySabotage("a submodule", "another repository", isInFolder: false) { world in
      let head = try world.program.git(["rev-parse", "HEAD"]).filter { !$0.isWhitespace }
      try world.program.git(["update-index", "--add", "--cacheinfo", "160000,\(head),items/module"])
    },
    stray(".envrc", "the policy does not allow it"), stray("README.md", "the policy does not allow it"),
    stray(".vscode/tasks.json", "the policy does not allow it"),
    stray("run.sh", mode: "100755", "an executable file"),
    stray("items/internet-password/a.example/alice.gpg", mode: "100755", "an executable file"),
    stray(".gitmodules", "this name does not belong in a store"),
    stray("items/.gitattributes", "this name does not belong in a store"),
    stray("items/internet-password/.gpg-id", "this name does not belong in a store"),
    stray("index/31.jsonl/x", "this name does not belong in a store"),
    stray("items/line\nfeed.gpg", "this name does not belong in a store"),
  ]

  /// A file that is added to git's index without being in the folder.
  private static func stray(_ path: String, mode: String = "100644", _ words: String) -> VerifySabotage {
    VerifySabotage("\(mode) \(path)", words, isInFolder: false) { world in
      let name = try world.program.git(["rev-parse", "HEAD:policy.json"]).filter { !$0.isWhitespace }
      try world.program.git(["update-index", "--add", "--replace", "--cacheinfo", mode, name, path])
    }
  }
}
