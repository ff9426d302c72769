import Keyring
import KeyringModel
import Secrets
import Testing

/// The Swift code of the README and the articles, so that it compiles and runs.
///
/// `DocumentationTests` compares every `swift` block of the documents with the lines of this file.
enum DocumentedCode {
  static func readAnItem(store: String, host: HostContext) throws {
    let keyring = try Keyring.open(at: store, host: host)
    let query = Query(itemClass: .internetPassword, predicates: [.equal(.server, "github.com")])
    for item in try keyring.find(query).items { print(item.path) }  // decrypts nothing
    guard let item = try keyring.find(query).items.first else { return }
    let secret = try keyring.secret(for: item, matching: query)  // decrypts this one
    #expect(secret.count == 11)
  }

  static func makeAContext(home: String) throws {
    let host = HostContext(
      engineBase: "/run/user/1000/keytree", stateBase: "\(home)/.local/state/keytree",
      searchPath: "/usr/bin:/bin", environment: ["HOME": home])
    let keyring = try Keyring.open(at: "\(home)/.local/share/keytree", host: host)
    _ = keyring
  }

  static func keepTheIndex(store: String, of host: HostContext) throws {
    var host = host
    host.keepsIndex = true
    let keyring = try Keyring.open(at: store, host: host)
    for _ in 0..<20 { #expect(try keyring.find(Query()).items.count == 2) }
  }

  static func addAnItem(_ keyring: Keyring, token: borrowing SecretBytes) throws {
    let item = NewItem(
      itemClass: .genericPassword,
      attributes: [.service: "mailer", .account: "bot", .label: "Build mails", "team": "infra"])
    let record = try keyring.add(item, secret: token)
    #expect(record.path.text == "generic-password/mailer/bot")
    #expect(record.attributes.account == "bot" && record.attributes["team"]?.text == "infra")
  }

  static func changeTwoItems(_ keyring: Keyring, _ successor: NewItem) throws {
    let newSecret = SecretBytes(copying: Array("new".utf8))
    let query = Query(predicates: [.equal(.service, "mailer"), .equal(.account, "bot")])
    guard let found = try keyring.find(query).items.first else { return }
    let secret = try keyring.secret(for: found, matching: query)
    #expect(secret.count == 5)

    try keyring.transaction { changes throws(KeyringError) in
      try changes.add(successor, secret: newSecret)
      try changes.update(found, AttributeChanges(set: [.comment: "replaced"]))
    }
  }

  static func query(_ keyring: Keyring, lastYear: Timestamp) throws {
    let recent = try keyring.find(
      Query(
        itemClass: .internetPassword,
        predicates: [
          Predicate(subject: .attribute(.server), comparison: .suffix(".example.org"), ignoresCase: true),
          Predicate(subject: .attribute(.modified), comparison: .after(lastYear)),
        ],
        limit: .count(10)))
    #expect(recent.items.map(\.path.container) == ["mail.example.org"])
  }
}
