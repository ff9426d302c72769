internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Terminal

/// `find-key` and `set-key-partition-list`. Both print all matches and decrypt nothing.
enum SecurityKeys {
  static let find = SecurityCommand(
    "find-key", "a:c:dD:ehj:l:rst:uvw",
    usage: """
      [-a application-label] [-c creator] [-l label] [-t public|private|symmetric]
              [-d] [-e] [-r] [-s] [-u] [-v] [-w] [keychain...]
          -d, -e, -r, -s, -u, -v, -w: keys that can decrypt, encrypt, derive, sign, unwrap, verify, wrap
      """,
    "Find keys."
  ) { call in try show(call) }

  static let access = SecurityCommand(
    "set-key-partition-list", "a:c:dD:ehj:k:l:rsS:t:uvw", secrets: "k",
    usage: "[letters of find-key] [-S partitions] [-k password] [keychain]",
    "Set the partition list of keys: accepted and ignored."
  ) { call in
    try show(call)
    call.note("partition lists are not supported; nothing was changed")
  }

  private static let abilities: [(Unicode.Scalar, AttributeName)] = [
    ("d", .canDecrypt), ("e", .canEncrypt), ("r", .canDerive), ("s", .canSign), ("u", .canUnwrap),
    ("v", .canVerify), ("w", .canWrap),
  ]

  private static func show(_ call: SecurityCall) throws {
    if call.options.has("h") { throw SecurityFailure.usage }
    let place = "SecItemCopyMatching"
    let predicates = try predicates(call)
    let index = try call.openIndex()
    let matches = try securityCall(place) {
      try index.find(Query(itemClass: .key, predicates: predicates))
    }
    call.call.tell(matches.problems)
    guard !matches.items.isEmpty else { throw SecurityFailure(.itemNotFound, at: place) }
    let keychain = try call.keychain()
    for record in matches.items { call.console.write(SecurityItem(record, in: keychain).text) }
  }

  private static func predicates(_ call: SecurityCall) throws -> [Predicate] {
    let options = call.options
    // Keys have neither a kind nor a comment, so nothing can match.
    if options.has("D") || options.has("j") {
      throw SecurityFailure(.itemNotFound, at: "SecItemCopyMatching")
    }
    var predicates = abilities.filter { options.has($0.0) }.map { Predicate.equal($0.1, .boolean(true)) }
    if let label = options.bytes("a") {
      predicates.append(.equal(.applicationLabel, AttributeValue(text: label)))
    }
    if let label = options.bytes("l") { predicates.append(.equal(.label, AttributeValue(text: label))) }
    if let code = try call.code("c") {
      predicates.append(.equal(.creator, .integer(code.reduce(0) { $0 << 8 | Int64($1) })))
    }
    if let type = options.bytes("t") {
      let kinds = ["public", "private", "symmetric"]
      guard let number = kinds.firstIndex(of: String(decoding: type, as: UTF8.self)) else {
        throw SecurityFailure.usage
      }
      predicates.append(.equal(.keyClass, .integer(Int64(number))))
    }
    return predicates
  }
}
