import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import Credentials

@Suite("Git's questions for credentials", .serialized)
struct GitCredentialHelperTests {
  static let host = "protocol=https\nhost=git.example.org\n"
  static let alice = host + "username=alice\npassword=secret\n"

  @Test("git gets what was stored")
  func roundTrip() throws {
    let world = try GitWorld()
    #expect(try world.store(Self.alice))
    #expect(try world.get(Self.host) == "username=alice\npassword=secret\n")
    #expect(try world.get(Self.host + "username=alice\n") == "username=alice\npassword=secret\n")
    let item = try #require(world.items().first)
    #expect(item.itemClass == .internetPassword)
    #expect(item.attributes == ["server": "git.example.org", "protocol": "https", "account": "alice"])
  }

  @Test("nothing is returned, stored or erased if several groups have the account")
  func groups() throws {
    let world = try GitWorld()
    try world.store(Self.alice)
    try world.store.changePolicy { $0.groups["ops"] = [world.store.owner] }
    let keyring = try world.store.open()
    let helper = GitCredentialHelper(
      keyring, recent: RecentLogins(base: world.store.host.stateBase, keyring: keyring.policy.keyring),
      now: Timestamp(microseconds: 1_800_000_000_000_000))
    var new = NewItem.login("git.example.org", "alice")
    new.group = "ops"
    try keyring.add(new, secret: SecretBytes(text: "of ops"))
    let before = try keyring.find(Query()).items
    let ambiguous = CredentialError.ambiguous(before)
    #expect(throws: ambiguous) { _ = try helper.get(GitWorld.message(Self.host)) }
    for password in ["secret", "of ops", "new"] {
      let message = try GitWorld.message(Self.host + "username=alice\npassword=\(password)\n")
      #expect(throws: ambiguous) { try helper.store(message) }
      #expect(throws: ambiguous) { try helper.erase(message) }
    }
    #expect(try keyring.find(Query()).items == before)
    // Another spelling of the server means the same server.
    let mine = try #require(before.first { $0.group == "ops" })
    try keyring.update(mine, .set(.server, "Git.Example.org"))
    #expect(throws: CredentialError.self) { _ = try helper.get(GitWorld.message(Self.host)) }
    #expect(throws: CredentialError.self) {
      try helper.store(GitWorld.message(Self.host + "username=alice\npassword=new\n"))
    }
    // Another account causes no ambiguity.
    #expect(try helper.store(GitWorld.message(Self.host + "username=bob\npassword=secret\n")))
    #expect(try helper.get(GitWorld.message(Self.host + "username=bob\n")) != nil)
    // Without a user name, the account that was used last decides. Another machine knows no such account.
    try keyring.delete(before.filter { $0.group == "default" })
    let bob = try #require(try helper.get(GitWorld.message(Self.host)))
    #expect(bob.answer.username == Array("bob".utf8))
    let elsewhere = GitCredentialHelper(
      keyring, recent: RecentLogins(base: world.store.path + "/none", keyring: keyring.policy.keyring),
      now: Timestamp(microseconds: 1_800_000_000_000_000))
    #expect(throws: CredentialError.self) { _ = try elsewhere.get(GitWorld.message(Self.host)) }
  }

  @Test("a credential that the store already has is not written again")
  func twice() throws {
    let world = try GitWorld()
    try world.store(Self.alice)
    let before = try world.items()
    #expect(try !world.store(Self.alice))
    #expect(try world.items() == before)
  }

  @Test("a changed password is replaced, without a second item")
  func replace() throws {
    let world = try GitWorld()
    try world.store(Self.alice)
    #expect(try world.store(Self.host + "username=alice\npassword=new\n"))
    #expect(try world.items().count == 1)
    #expect(try world.get(Self.host) == "username=alice\npassword=new\n")
  }

  @Test(
    "a question gets nothing that belongs to another place",
    arguments: [
      "", "protocol=https\n", "host=git.example.org\n", "protocol=\nhost=git.example.org\n",
      "protocol=https\nhost=\n",
      "protocol=http\nhost=git.example.org\n", "protocol=https\nhost=git.example.org:8443\n",
      "protocol=https\nhost=example.org\n", "protocol=https\nhost=git.example.org.evil.example\n",
      "protocol=https\nhost=git.example.org\nusername=bob\n",
      "protocol=https\nhost=git.example.org\nusername=\n",
      "protocol=https\nhost=git.example.org\npath=team/project.git\n",
      "protocol=imap\nhost=git.example.org\n", "protocol=cert\nhost=git.example.org\n",
    ])
  func elsewhere(question: String) throws {
    let world = try GitWorld()
    try world.store(Self.alice)
    #expect(try world.get(question) == "")
  }

  @Test("servers on other ports and protocols are different servers")
  func servers() throws {
    let world = try GitWorld()
    for (number, place) in [
      "protocol=https\nhost=a.example\n", "protocol=https\nhost=a.example:8443\n",
      "protocol=http\nhost=a.example\n", "protocol=http\nhost=a.example:80\n",
    ].enumerated() {
      try world.store(place + "username=u\npassword=\(number)\n")
    }
    // The last one has the default port, so it replaces the one before.
    #expect(try world.items().count == 3)
    #expect(try world.get("protocol=https\nhost=A.example\n") == "username=u\npassword=0\n")
    #expect(try world.get("protocol=https\nhost=a.example:8443\n") == "username=u\npassword=1\n")
    #expect(try world.get("protocol=http\nhost=a.example\n") == "username=u\npassword=3\n")
    #expect(try world.get("protocol=http\nhost=a.example:80\n") == "username=u\npassword=3\n")
  }

  @Test("a question with a path gets what was stored with that path, and one without a path gets any")
  func paths() throws {
    let world = try GitWorld()
    try world.store(Self.host + "path=a.git\nusername=alice\npassword=of a\n")
    #expect(try world.get(Self.host + "path=a.git\n") == "username=alice\npassword=of a\n")
    #expect(try world.get(Self.host + "path=b.git\n") == "")
    #expect(try world.get(Self.host) == "username=alice\npassword=of a\n")
    // The credential was returned without a path and has worked, so there is no second item.
    #expect(try !world.store(Self.host + "username=alice\npassword=of a\n"))
    #expect(try world.store(Self.host + "path=b.git\nusername=alice\npassword=of b\n"))
    #expect(try world.get(Self.host + "path=b.git\n") == "username=alice\npassword=of b\n")
  }

  @Test("an item that was stored by hand without a protocol is returned for encrypted connections only")
  func byHand() throws {
    let world = try GitWorld()
    try world.add("git.example.org", "alice", "by hand")
    #expect(try world.get(Self.host) == "username=alice\npassword=by hand\n")
    #expect(try world.get("protocol=http\nhost=git.example.org\n") == "")
    #expect(try !world.store(Self.host + "username=alice\npassword=by hand\n"))
    #expect(try world.store(Self.host + "username=alice\npassword=new\n"))
    #expect(try world.items().count == 1)
  }

  @Test("fields and tokens are not mistaken for passwords")
  func otherKinds() throws {
    let world = try GitWorld()
    try world.add("git.example.org", "alice", "seed", ["field": "otp", "protocol": "https"])
    try world.add("git.example.org", "alice", "note", ["field": "note", "protocol": "https"])
    try world.add("git.example.org", "bob", "token", ["authenticationType": "oauth-refresh-token"])
    #expect(try world.get(Self.host) == "")
    #expect(try world.erase(Self.host) == 0)
    try world.store(Self.alice)
    #expect(try world.get(Self.host) == "username=alice\npassword=secret\n")
    #expect(try world.items().count == 2)
    // The item is erased, and its fields stay.
    #expect(try world.erase(Self.host) == 1)
    #expect(try world.get(Self.host) == "")
    var fields = Query()
    fields.includesFields = true
    #expect(try world.keyring.find(fields).items.compactMap(\.field) == ["otp", "note"])
  }

  @Test("the account that was used last at the server is preferred")
  func lastUsed() throws {
    let world = try GitWorld()
    for name in ["carol", "alice", "bob"] { try world.store(Self.host + "username=\(name)\npassword=p\n") }
    try world.store("protocol=https\nhost=b.example\nusername=zoe\npassword=p\n")
    #expect(try world.get(Self.host) == "username=bob\npassword=p\n")
    // The credential has worked again: nothing is written to the store, but the use is remembered.
    #expect(try !world.store(Self.host + "username=carol\npassword=p\n"))
    for _ in 0..<3 { #expect(try world.get(Self.host) == "username=carol\npassword=p\n") }
    try world.erase(Self.host + "username=carol\npassword=p\n")
    #expect(try world.get(Self.host) == "username=bob\npassword=p\n")
  }

  @Test(
    "only the rejected credential is erased",
    arguments: [
      (host + "username=alice\npassword=secret\n", ["bob"]),
      (host + "username=alice\npassword=other\n", ["alice", "bob"]),
      (host + "username=alice\n", ["bob"]), (host, []), (host + "password=secret\n", ["bob"]),
      ("protocol=http\nhost=git.example.org\n", ["alice", "bob"]), ("", ["alice", "bob"]),
      ("protocol=https\nusername=alice\n", ["alice", "bob"]), (host + "path=x\n", ["alice", "bob"]),
    ])
  func erase(rejection: String, left: [String]) throws {
    let world = try GitWorld()
    try world.store(Self.alice)
    try world.store(Self.host + "username=bob\npassword=other secret\n")
    try world.erase(rejection)
    #expect(try world.items().compactMap { $0.attributes[.account] } == left.map { .string($0) })
  }

  @Test("the expiry of a password is returned, and an expired password is not")
  func expiry() throws {
    let world = try GitWorld()
    let ending = Self.alice + "password_expiry_utc=1800000100\n"
    #expect(try world.store(ending))
    #expect(
      try world.get(Self.host) == "username=alice\npassword=secret\npassword_expiry_utc=1800000100\n")
    #expect(try world.get(Self.host, at: 1_800_000_101) == "")
    // An older git does not send the expiry, and then the stored expiry is kept.
    #expect(try !world.store(Self.alice))
    #expect(try world.get(Self.host, at: 1_800_000_101) == "")
    #expect(try world.store(Self.alice + "password_expiry_utc=1800000200\n"))
    #expect(try world.store(Self.host + "username=alice\npassword=new\n"))
    #expect(try world.get(Self.host, at: 1_800_000_301) == "username=alice\npassword=new\n")
    #expect(try !world.store(Self.host + "username=zoe\npassword=p\npassword_expiry_utc=17\n"))
  }

  @Test(
    "an invalid expiry is ignored, as in git",
    arguments: ["soon", "-1", "18446744073709551615", "", "1.5"])
  func noExpiry(time: String) throws {
    let world = try GitWorld()
    #expect(try world.store(Self.alice + "password_expiry_utc=\(time)\n"))
    #expect(try world.get(Self.host) == "username=alice\npassword=secret\n")
  }

  @Test("a refresh token is stored encrypted, beside its password")
  func refreshToken() throws {
    let world = try GitWorld()
    let full = Self.alice + "oauth_refresh_token=refresh\n"
    #expect(try world.store(full))
    #expect(try world.get(Self.host) == "username=alice\npassword=secret\noauth_refresh_token=refresh\n")
    #expect(try !world.store(full))
    // An older git does not send the refresh token.
    #expect(try !world.store(Self.alice))
    let token = try #require(
      world.items().first { $0.attributes[.authenticationType] == "oauth-refresh-token" })
    #expect(try world.keyring.text(of: token) == "refresh")
    #expect(try world.store(Self.alice + "oauth_refresh_token=later\n"))
    #expect(try world.get(Self.host) == "username=alice\npassword=secret\noauth_refresh_token=later\n")
    #expect(try world.erase(Self.host + "username=alice\npassword=stale\n") == 0)
    // A new password removes the token of the old one.
    #expect(try world.store(Self.host + "username=alice\npassword=new\n"))
    #expect(try world.items().count == 1)
    try world.store(full)
    #expect(try world.erase(Self.alice) == 2)
    #expect(try world.items().isEmpty)
  }

  @Test("the refresh token is returned when the password has expired")
  func refreshAfterEnd() throws {
    let world = try GitWorld()
    try world.store(Self.alice + "password_expiry_utc=1800000100\noauth_refresh_token=refresh\n")
    #expect(try world.get(Self.host, at: 1_800_000_101) == "username=alice\noauth_refresh_token=refresh\n")
  }

  @Test("a refresh token, a seed or an access token is never returned as something else")
  func kinds() throws {
    let world = try GitWorld()
    let bearer = Self.host + "capability[]=authtype\nusername=u\nauthtype=Bearer\ncredential=ACCESS\n"
    let question = Self.host + "capability[]=authtype\n"
    #expect(try world.store(bearer + "oauth_refresh_token=REFRESH\n"))
    #expect(try !world.store(bearer + "oauth_refresh_token=REFRESH\n"))
    let answer =
      "capability[]=authtype\nusername=u\noauth_refresh_token=REFRESH\nauthtype=Bearer\ncredential=ACCESS\n"
    #expect(try world.get(question) == answer)
    #expect(try world.get(Self.host) == "")
    #expect(try world.erase(bearer) == 2)
    #expect(try world.get(question) == "")
    // An authentication type and a scheme in the attributes do not turn other items into credentials.
    for type in ["totp", "oauth-refresh-token", "bearer", "NTLM2"] {
      try world.add(
        "git.example.org", type, "SECRET",
        ["authenticationType": .string(type), "protocol": "https", "authorizationScheme": "Bearer"])
    }
    #expect(try world.get(question) == "")
    #expect(try world.erase(question) == 0)
    for scheme in ["NTLM", "totp", "html-form", "oauth-refresh-token"] {
      try world.store(Self.host + "capability[]=authtype\nauthtype=\(scheme)\ncredential=TOKEN\n")
      #expect(try world.get(Self.host) == "")
    }
  }

  @Test("entries of docker are left alone")
  func docker() throws {
    let world = try GitWorld()
    let json = SecretBytes(text: #"{"ServerURL":"git.example.org","Username":"alice","Secret":"of docker"}"#)
    let docker = DockerCredentialHelper(world.keyring)
    _ = try docker.store(DockerCredential(json))
    #expect(try world.get(Self.host) == "")
    #expect(try world.store(Self.alice))
    #expect(try world.erase(Self.host) == 1)
    guard let answer = try docker.get(Array("git.example.org".utf8)) else {
      Issue.record("docker's entry is gone")
      return
    }
    #expect(answer.text().contains("of docker"))
  }

  @Test("a damaged index is an error, not an empty answer")
  func damage() throws {
    let world = try GitWorld()
    try world.store(Self.alice)
    let item = try #require(world.items().first)
    let tree = try world.store.tree()
    let shard = StoreLayout.shardFile(item.path.shard, isLocal: false)
    let line = try #require(try tree.read(shard, limit: 1 << 20))
    try tree.replaceFile(shard, with: Array(line.dropLast(3)), temporary: "tmp")
    for body in [
      { _ = try world.get(Self.host) }, { _ = try world.erase(Self.host) },
      { _ = try world.store(Self.alice) },
    ] as [() throws -> Void] {
      #expect(throws: CredentialError.damagedIndex) { try body() }
    }
  }

  @Test("erase removes the matching items even if another one cannot be decrypted, and reports that one")
  func unreadable() throws {
    let world = try GitWorld()
    try world.store(Self.alice)
    let broken = try world.add("git.example.org", "bob", "secret", ["protocol": "https"])
    let tree = try world.store.tree()
    try tree.replaceFile("items/\(broken.path.text).gpg", with: [1, 2, 3], temporary: "tmp")
    #expect(throws: KeyringError.self) { try world.erase(Self.host + "password=secret\n") }
    #expect(try world.items().map(\.id) == [broken.id])
    #expect(try world.store(Self.alice))
  }

  @Test("a host is found in any case")
  func hostCase() throws {
    let world = try GitWorld()
    try world.add("Git.Example.org", "alice", "secret", ["protocol": "https"])
    #expect(try world.get(Self.host) == "username=alice\npassword=secret\n")
    #expect(try !world.store(Self.alice))
  }

  @Test("a password that is stored during an erase is not erased")
  func eraseRace() throws {
    let world = try GitWorld()
    for round in 0..<40 {
      try world.store(Self.host + "username=alice\npassword=old \(round)\n")
      let new = Self.host + "username=alice\npassword=new \(round)\n"
      try ThreadGroup.run(2) { number in
        if number == 0 {
          try world.store(new)
        } else {
          try world.erase(Self.host + "username=alice\npassword=old \(round)\n")
        }
      }
      // In either order, the new password remains, because it was never rejected.
      #expect(try world.get(Self.host) == "username=alice\npassword=new \(round)\n")
    }
  }

  @Test("a credential for a header is returned only to clients that support it")
  func tokens() throws {
    let world = try GitWorld()
    let token = Self.host + "capability[]=authtype\nauthtype=Bearer\ncredential=abc=\n"
    #expect(try world.store(token))
    #expect(try !world.store(token))
    #expect(try world.get(Self.host) == "")
    #expect(
      try world.get(Self.host + "capability[]=authtype\n")
        == "capability[]=authtype\nauthtype=Bearer\ncredential=abc=\n")
    #expect(try !world.store(token + "ephemeral=1\n"))
    #expect(try world.erase(Self.host + "authtype=Bearer\ncredential=other\n") == 0)
    #expect(try world.erase(Self.host + "password=abc=\n") == 0)
    #expect(try world.erase(Self.host + "authtype=Bearer\ncredential=abc=\n") == 1)
  }

  @Test("ephemeral and incomplete credentials are not stored")
  func incomplete() throws {
    let world = try GitWorld()
    for message in [
      Self.alice + "ephemeral=true\n", Self.host + "username=alice\n", Self.host + "password=p\n",
      "protocol=https\nusername=alice\npassword=p\n", "host=h\nusername=alice\npassword=p\n", "",
    ] {
      #expect(try !world.store(message))
    }
    #expect(try world.items().isEmpty)
  }

  @Test("every value that fits into a line is kept, and unknown attributes are ignored")
  func values() throws {
    let world = try GitWorld()
    let unknown = "wwwauth[]=Basic realm=\"x\"\nstate[]=other.state=1\ncapability[]=state\nfuture=1\nquit=0\n"
    for (name, password) in [
      ("a b", "p=w=d"), ("-rf", "--"), ("Zoë", "pässwörd ✓"), ("x", ""), ("y", "\u{1}\t\u{7F}"),
      ("z", String(repeating: "s", count: 70_000)),
    ] {
      try world.store(unknown + Self.host + "username=\(name)\npassword=\(password)\n")
      #expect(
        try world.get(Self.host + "username=\(name)\n") == "username=\(name)\npassword=\(password)\n")
    }
    // Everything after a blank line is ignored.
    #expect(try world.get(Self.host + "username=a b\n\nusername=x\n") == "username=a b\npassword=p=w=d\n")
  }

  @Test(
    "a message is refused if a value could be mistaken for something else",
    arguments: [
      "protocol=https\r\nhost=h\r\n", "protocol=https\nhost=h\u{0}x\n", "protocol\n", "=x\n",
      "protocol=https\nhost=a b\n", "protocol=https\nhost=h:99999\n", "protocol=https\nhost=h/x\n",
    ])
  func malformed(message: String) throws {
    let world = try GitWorld()
    #expect(throws: CredentialError.self) { try world.store(message + "username=u\npassword=p\n") }
    #expect(try world.items().isEmpty)
  }

  @Test(
    "a secret that would be read as more than a password is not returned",
    arguments: ["a\nhost=evil", "a\r", "a\u{0}b"])
  func carried(secret: String) throws {
    let world = try GitWorld()
    try world.add("git.example.org", "alice", secret)
    #expect(try world.get(Self.host) == "cannot be carried")
    try world.erase(Self.host)
    try world.add("git.example.org", "al\nice", "secret")
    #expect(try world.get(Self.host) == "cannot be carried")
  }

  @Test(
    "a password is not returned if only a forged index line assigns it to the host", arguments: [false, true])
  func poisoned(copiesRecord: Bool) throws {
    let world = try GitWorld()
    let item = try world.add("bank.example", "alice", "secret", ["protocol": "https"])
    var forged = item
    forged.attributes[.server] = "evil.example"
    let tree = try world.store.tree()
    for ending in copiesRecord ? [".gpg", ".json"] : [".gpg"] {
      let bytes = try #require(try tree.read("items/\(item.path.text)\(ending)", limit: 1 << 20))
      try tree.createFile("items/\(forged.path.text)\(ending)", bytes)
    }
    try tree.createFile(
      StoreLayout.shardFile(forged.path.shard, isLocal: false), try IndexLine.encode(forged) + [10])
    let expected: KeyringError =
      copiesRecord
      ? .bindingMismatch(forged.reference, .place) : .itemDamaged(forged.reference, .noRecord)
    #expect {
      try world.get("protocol=https\nhost=evil.example\n")
    } throws: { error in
      guard let error = error as? KeyringError else { return false }
      return error == expected
    }
  }
}
