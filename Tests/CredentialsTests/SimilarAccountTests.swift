import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import Credentials

/// Tests other spellings of the account of a shared item (threat T53), with a store of two people: Alice is in `default`
/// and `ops`, Bob only in `default`.
@Suite(.serialized) struct SimilarAccountTests {
  private let store = StandInStore()
  private let bob = EngineDouble.fingerprint(2)

  init() throws {
    try store.create()
    let owner = store.owner
    try store.join(bob, "default")
    try store.changePolicy { $0.groups["ops"] = [owner] }
  }

  // MARK: Programs

  /// A request of a program to store the password `new`.
  enum Request: Sendable {
    /// The lines of git's message.
    case git(String)
    /// The URL and the user name of docker.
    case docker(String, String)
    /// The URL of the index of a registry of cargo.
    case cargo(String)
    /// The service and the user name of Python's `keyring`.
    case python(String, String)

    func store(in keyring: Keyring, _ state: String) throws {
      let secret = SecretSlice(SecretBytes(text: "new"))
      let recent = RecentLogins(base: state, keyring: keyring.policy.keyring)
      let now = Timestamp(microseconds: 1_800_000_000_000_000)
      switch self {
      case .git(let lines):
        let message = try GitWorld.message(lines + "\npassword=new\n")
        _ = try GitCredentialHelper(keyring, recent: recent, now: now).store(message)
      case .docker(let url, let user):
        let text = #"{"ServerURL":"\#(url)","Username":"\#(user)","Secret":"new"}"#
        _ = try DockerCredentialHelper(keyring).store(DockerCredential(SecretBytes(text: text)))
      case .cargo(let url):
        let line = #"{"v":1,"kind":"login","registry":{"index-url":"\#(url)"}}"#
        _ = try CargoCredentialProvider(keyring).store(secret, for: CargoRequest(SecretBytes(text: line)))
      case .python(let service, let user):
        _ = try ServiceLogins(keyring, recent: recent, now: now).store(
          secret, service: Array(service.utf8), account: Array(user.utf8))
      }
    }
  }

  private func add(_ item: NewItem, _ group: String = "ops") throws {
    var item = item
    item.group = group
    try store.open().add(item, secret: SecretBytes(text: "old"))
  }

  private func store(_ request: Request) throws {
    try request.store(in: store.open(), store.host.stateBase)
  }

  /// The groups and secrets of all items.
  private func texts() throws -> [String] {
    let keyring = try store.open()
    return try keyring.find(Query()).items.map { "\($0.group) \(try keyring.text(of: $0))" }.sorted()
  }

  private static func generic(_ service: String, _ account: String) -> NewItem {
    NewItem(
      itemClass: .genericPassword,
      attributes: ["service": AttributeValue.string(service), "account": .string(account)])
  }

  private static let docker: KeyValuePairs<AttributeName, AttributeValue> = [
    "label": "Docker Credentials", "protocol": "https", "authenticationType": "default",
  ]

  // MARK: The same account

  @Test(
    arguments: [
      (.login("git.example.", "deploy"), "host=git.example"),
      (.login("git.example", "deploy"), "host=git.example."),
      (.login("git.example", "deploy"), "host=git.example.:443"),
      (.login("git.example", "deploy", ["port": 443]), "host=git.example"),
      (.login("git.example", "deploy", ["port": 443, "protocol": "https"]), "host=GIT.example"),
      (.login("git.example", "deploy"), "host=git.example:443"),
      (.login("git.example", "deploy"), "host=GIT.EXAMPLE"),
    ] as [(NewItem, String)])
  func `a final dot, the case of a host and the default port do not make another account`(
    item: NewItem, host: String
  ) throws {
    try add(item)
    let lines = "protocol=https\n\(host)\nusername=deploy"
    let keyring = try store.open()
    let helper = GitCredentialHelper(
      keyring, recent: RecentLogins(base: store.host.stateBase, keyring: keyring.policy.keyring),
      now: Timestamp(microseconds: 1_800_000_000_000_000))
    #expect(try helper.get(GitWorld.message(lines + "\n"))?.answer.password?.copy().text() == "old")
    #expect(throws: KeyringError.self) { try helper.erase(GitWorld.message(lines + "\npassword=old\n")) }
    try store(.git(lines))
    #expect(try texts() == ["ops new"])
  }

  @Test(arguments: ["git.example.", "https://git.example.:443", "git.example:443", "//GIT.example"])
  func `docker finds a registry with a final dot or the default port`(url: String) throws {
    try add(.login("git.example", "deploy", Self.docker))
    try store(.docker(url, "deploy"))
    #expect(try texts() == ["ops new"])
  }

  // MARK: Possibly the same account

  /// Accounts of `ops`, and other spellings of them with which programs store a password.
  static let spellings: [(NewItem, Request)] = [
    (.login("git.example", "deploy"), .git("protocol=http\nhost=git.example\nusername=deploy")),
    (.login("git.example", "deploy"), .git("protocol=smtp\nhost=git.example\nusername=deploy")),
    (
      .login("git.example", "deploy", ["protocol": "https", "port": 443]),
      .git("protocol=http\nhost=git.example:80\nusername=deploy")
    ),
    (.login("git.example", "deploy"), .git("protocol=https\nhost=git.example:8443\nusername=deploy")),
    (.login("git.example", "deploy"), .git("protocol=https\nhost=git.example\nusername=Deploy")),
    (.login("git.example", "deploy"), .git("protocol=https\nhost=git.example\nusername= deploy ")),
    (.login("git.example", "agro\u{df} "), .git("protocol=https\nhost=git.example\nusername=AGRO\u{df}")),
    (.login("git.example", "u\u{308}"), .git("protocol=https\nhost=git.example\nusername=\u{fc}")),
    // A browser and curl send a name of IDNA, git and docker what the user has typed.
    (.login("xn--bcher-kva.example", "me"), .git("protocol=https\nhost=B\u{dc}CHER.example\nusername=me")),
    (.login("bu\u{308}cher.example", "me"), .git("protocol=https\nhost=xn--bcher-kva.example\nusername=me")),
    (
      .login("xn--e1afmkfd.xn--p1ai", "me"),
      .git("protocol=https\nhost=\u{43f}\u{440}\u{438}\u{43c}\u{435}\u{440}.\u{440}\u{444}\nusername=me")
    ),
    (.login("xn--bcher-kva.example", "me", docker), .docker("https://b\u{fc}cher.example/v2/", "me")),
    (
      generic("https://b\u{fc}cher.example/", "me"),
      .git("protocol=https\nhost=xn--bcher-kva.example\nusername=me")
    ),
    (.login("2001:db8::1", "me"), .git("protocol=https\nhost=[2001:0DB8:0:0:0:0:0:1]\nusername=me")),
    (.login("0:0:0:0:0:ffff:192.0.2.1", "me"), .git("protocol=https\nhost=[::ffff:c000:201]\nusername=me")),
    (.login("git.example", "me"), .python("https://git%2Eexample/", "me")),
    (
      .login("git.example", "deploy", ["path": "team/a"]),
      .git("protocol=https\nhost=git.example\npath=team/a.git\nusername=deploy")
    ),
    (.login("git.example", ""), .git("protocol=https\nhost=git.example\nusername=deploy")),
    (.login("git.example", "deploy"), .git("protocol=https\nhost=git.example\nusername=")),
    (
      .login("git.example", "deploy", ["authenticationType": "http-basic"]),
      .docker("git.example", "deploy")
    ),
    (.login("git.example", "deploy", docker), .docker("http://git.example", "deploy")),
    (.login("git.example", "deploy", docker), .docker("git.example", "Deploy")),
    (.login("git.example", "deploy", docker), .docker("git.example/v1/", "deploy")),
    (.login("git.example.", "deploy"), .python("git.example", "deploy")),
    (.login("git.example", "deploy"), .python("git.example", "Deploy")),
    (
      .login("git.example", "deploy", ["protocol": "http"]), .python("https://git.example./simple/", "deploy")
    ),
    (generic("https://git.example/simple", "deploy"), .python("git.example", "deploy")),
    (generic("https://git.example/simple", "deploy"), .python("https://git.example/simple/", "deploy")),
    (generic("Mailer", "bot"), .python("mailer ", "bot")),
    (generic("git.example", "deploy"), .git("protocol=https\nhost=git.example\nusername=deploy")),
    (
      generic("cargo-registry:sparse+https://crates.example/index/", ""),
      .cargo("sparse+https://crates.example/index")
    ),
    (
      NewItem(
        itemClass: .genericPassword,
        attributes: [
          "service": "org.gnome.keyring.NetworkPassword", "account": "0123", "kind": "secret-service",
          "ss:server": "git.example", "ss:user": "deploy",
        ]), .git("protocol=https\nhost=git.example\nusername=deploy")
    ),
  ]

  @Test(arguments: spellings)
  func `another spelling of a shared account is not stored for more readers`(
    item: NewItem, request: Request
  ) throws {
    try add(item)
    #expect(throws: KeyringError.self) { try store(request) }
    #expect(try texts() == ["ops old"])
  }

  /// Hosts that programs resolve to the same host: curl maps names as IDNA does, and inet_aton(3) reads numbers.
  @Test(
    arguments: [
      ("127.0.0.1", "127.1"), ("127.0.0.1", "0x7f000001"), ("127.0.0.1", "2130706433"),
      ("127.0.0.1", "0177.0.0.1"), ("127.0.0.1", "127.0x1"), ("127.0.0.1", "[::ffff:127.0.0.1]"),
      ("127.0.0.1", "[::ffff:7f00:1]"), ("::ffff:10.0.0.1", "10.0.0.1"), ("0x0a000001", "10.0.0.1"),
      ("::1", "[0:0::1]"), ("git.example", "\u{ff47}\u{ff49}\u{ff54}.example"),
      ("git.example", "git.exam\u{ad}ple"), ("git.example", "git\u{200d}.example"),
      ("git.example", "\u{24d6}it.example"), ("git.example", "git\u{3002}example"),
      ("file.example", "\u{fb01}le.example"), ("127.0.0.1", "\u{ff11}27.0.0.1"),
      ("stra\u{df}e.example", "strasse.example"), ("strasse.example", "stra\u{df}e.example"),
      ("strasse.example", "xn--strae-oqa.example"),
    ])
  func `a host that programs resolve to that of a shared account is not stored for more readers`(
    host: String, spelling: String
  ) throws {
    try add(.login(host, "deploy"))
    #expect(throws: KeyringError.self) {
      try store(.git("protocol=https\nhost=\(spelling)\nusername=deploy"))
    }
    #expect(try texts() == ["ops old"])
  }

  @Test(
    arguments: [
      "127.0.0.2", "127.2", "2130706434", "0x7f000002", "[::2]", "b\u{fc}cher.example",
      "\u{43f}\u{440}\u{438}\u{43c}\u{435}\u{440}.\u{440}\u{444}", "256.0.0.1", "0x.example", "08.1",
    ])
  func `another address or another name in Unicode is stored beside a shared account`(host: String) throws {
    for other in ["127.0.0.1", "::1", "strasse.example"] { try add(.login(other, "deploy")) }
    try store(.git("protocol=https\nhost=\(host)\nusername=deploy"))
    #expect(try texts().first == "default new")
  }

  @Test func `a host in letters with other forms is stored if no other group has the user name`() throws {
    try add(.login("git.example", "deploy"))
    try store(.git("protocol=https\nhost=\u{ff47}it.example\nusername=me"))
    #expect(try texts() == ["default new", "ops old"])
  }

  /// Mallory of another group adds an item without an account.
  @Test func `a person who is not in the group of a similar item gets the command that adds another one`()
    throws
  {
    try add(.login("git.example", ""))
    let item = NewItem.login("git.example", "bob")
    #expect {
      try store.open(as: bob).requireNewAccount(item)
    } throws: { error in
      if case KeyringError.shared(.similar, _) = error { true } else { false }
    }
  }

  @Test func `another spelling is stored if only the user can read new items`() throws {
    try add(.login("git.example", "deploy"))
    let request = Request.git("protocol=https\nhost=git.example\nusername=Deploy")
    #expect(throws: KeyringError.self) { try store(request) }
    try store.remove(bob)
    try store(request)
    #expect(try texts() == ["default new", "ops old"])
  }

  @Test(
    arguments: [
      .git("protocol=https\nhost=git.example\nusername=other"),
      .git("protocol=https\nhost=git.example.org\nusername=deploy"),
      .git("protocol=https\nhost=sub.git.example\nusername=deploy"),
      .git("protocol=https\nhost=git.example:9443\nusername=deploy"),
      .docker("registry.example", "deploy"), .docker("git.example", "deploy2"),
      .python("api", "deploy"), .python("git.example/simple", "other"), .cargo("sparse+https://git.example/"),
    ] as [Request])
  func `an account with another name or host is stored beside a shared one`(request: Request) throws {
    try add(.login("git.example", "deploy", ["port": 8443]))
    try store(request)
    #expect(try texts() == ["default new", "ops old"])
  }

  @Test func `an account that was added on purpose is replaced in its group`() throws {
    try add(.login("git.example", "deploy"))
    let request = Request.git("protocol=http\nhost=git.example\nusername=deploy")
    #expect(throws: KeyringError.self) { try store(request) }
    try add(.login("git.example", "deploy", ["protocol": "http"]), "default")
    try store(request)
    #expect(try texts() == ["default new", "ops old"])
  }

  @Test func `another spelling of an account of a group of other people is not stored`() throws {
    try add(.login("git.example", "deploy"))
    let owner = store.owner
    try store.join(bob, "ops")
    try store.leave(owner, "ops")
    #expect(throws: KeyringError.self) {
      try store(.git("protocol=http\nhost=git.example\nusername=deploy"))
    }
    #expect(try store.open().find(Query()).items.map(\.group) == ["ops"])
  }

  @Test func `the search for another spelling of an account starts no process and decrypts nothing`() throws {
    for number in 0..<20 { try add(.login("git\(number).example", "deploy")) }
    let keyring = try store.open()
    let before = keyring.engineStatistics
    try keyring.requireNewAccount(.login("other.example", "deploy"))
    #expect(throws: KeyringError.self) {
      try keyring.requireNewAccount(.login("git7.example", "deploy", ["protocol": "http"]))
    }
    #expect(keyring.engineStatistics == before)
  }
}
