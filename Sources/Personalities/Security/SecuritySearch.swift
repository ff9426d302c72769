internal import CommandSupport
internal import Credentials
internal import Encoding
internal import Keyring
internal import KeyringModel
internal import Terminal

/// A search for passwords with the options of a command as conditions.
///
/// Codes of four characters are compared as codes, because the index may contain a word, the code itself, or a number.
struct SecuritySearch {
  private let itemClass: ItemClass
  private var predicates: [Predicate] = []
  private var codes: [(name: AttributeName, accepted: [[UInt8]])] = []
  /// A Boolean value that indicates whether tokens are excluded, because the search does not ask for them.
  private var leavesOutOtherTypes = true

  /// Creates a search from the options that the find, delete and partition-list commands have in common.
  ///
  /// - Throws: `SecurityFailure` for a code without exactly four characters.
  init(_ call: SecurityCall, _ itemClass: ItemClass) throws {
    self.itemClass = itemClass
    for (letter, name) in Self.texts(of: itemClass) { match(name, call.options.bytes(letter)) }
    if let port = try call.port() { predicates.append(.equal(.port, .integer(port))) }
    for (letter, name) in Self.codes(of: itemClass) {
      guard let code = try call.code(letter) else { continue }
      codes.append((name, [code]))
    }
    leavesOutOtherTypes = !call.options.has("t")
  }

  /// Returns the letters for text, with their attributes.
  static func texts(of itemClass: ItemClass) -> [(Unicode.Scalar, AttributeName)] {
    let common: [(Unicode.Scalar, AttributeName)] = [
      ("a", .account), ("D", .kind), ("j", .comment), ("l", .label),
    ]
    return common
      + (itemClass == .genericPassword
        ? [("s", .service), ("G", .generic)] : [("s", .server), ("d", .securityDomain), ("p", .path)])
  }

  /// Returns the letters for codes of four characters, with their attributes.
  static func codes(of itemClass: ItemClass) -> [(Unicode.Scalar, AttributeName)] {
    let common: [(Unicode.Scalar, AttributeName)] = [("c", .creator), ("C", .type)]
    return common + (itemClass == .genericPassword ? [] : [("r", .protocol), ("t", .authenticationType)])
  }

  private mutating func match(_ name: AttributeName, _ bytes: [UInt8]?) {
    guard let bytes else { return }
    predicates.append(.equal(name, AttributeValue(text: bytes)))
  }

  /// Creates the search for the items that an addition with `-U` updates: those with the given account, service or
  /// server, and other given attributes of the primary key. Label, comment and similar attributes are set and are not
  /// conditions.
  ///
  /// - Parameter isExact: true if attributes that were not given must be missing, as in an item that conflicts with a
  ///   new one.
  init(adding call: SecurityCall, _ itemClass: ItemClass, isExact: Bool) throws {
    self.itemClass = itemClass
    let key = AttributeSchema.primaryKey(of: itemClass)
    for (letter, name) in Self.texts(of: itemClass) where key.contains(name) {
      match(name, call.options.bytes(letter) ?? (isExact ? [] : nil))
    }
    // Any item with this primary key is a conflict.
    leavesOutOtherTypes = false
    guard itemClass == .internetPassword else { return }
    let port = try call.port()
    if port != nil || isExact { predicates.append(.equal(.port, .integer(port ?? 0))) }
    if let code = try call.code("r") {
      codes.append((.protocol, [code]))
    } else if isExact {
      codes.append((.protocol, [[], [0, 0, 0, 0]]))
    }
    // An item without an authentication type is treated as the default type.
    let type = try call.code("t")
    codes.append((.authenticationType, type.map { [$0] } ?? [SecurityCall.usualType, []]))
  }

  /// A Boolean value that indicates whether no condition was given.
  var isEmpty: Bool { predicates.isEmpty && codes.isEmpty }

  /// Returns the matches in the order of their creation. Tokens that programs store with the account and server of a
  /// password match only with `-t`, because a script that reads or deletes a password must not get anything else.
  /// Fields never match.
  ///
  /// - Throws: `KeyringError`; `noMatchButDamage` if nothing matches and damaged lines of the index may be a match.
  func run(in index: Index, _ call: CommandCall) throws -> [ItemRecord] {
    let matches = try index.find(Query(itemClass: itemClass, predicates: predicates))
    call.tell(matches.problems)
    let found = matches.items.filter { record in
      codes.allSatisfy { entry in
        let code = record.attributes[entry.name].map { SecurityItem.code($0, of: entry.name) } ?? []
        return entry.accepted.contains(code)
      }
    }
    if found.isEmpty, !matches.problems.isEmpty { throw CommandError.noMatchButDamage("these attributes") }
    return leavesOutOtherTypes ? found.filter(Self.isPassword) : found
  }

  /// Returns true if an item is a password, including one whose authentication type is a code without a name.
  private static func isPassword(_ record: ItemRecord) -> Bool {
    if LoginItems.isPassword(record) { return true }
    return record.attributes[.authenticationType]?.contentBytes?.count == 4
  }

  /// Returns a query with all conditions, including the codes, that the verified record of a match must satisfy.
  func query(for record: ItemRecord) -> Query {
    let exact = codes.compactMap { entry in
      record.attributes[entry.name].map { Predicate.equal(entry.name, $0) }
    }
    return Query(itemClass: itemClass, predicates: predicates + exact)
  }

  /// Returns the first match.
  ///
  /// - Throws: `SecurityFailure` with status 44 if nothing matches; the errors of `choice(in:_:)`.
  func first(in index: Index, _ call: SecurityCall) throws -> ItemRecord {
    let place = "SecKeychainSearchCopyNext"
    let found = try securityCall(place) { try choice(in: index, call.call) }
    guard let found else { throw SecurityFailure(.itemNotFound, at: place) }
    return found
  }

  /// Returns the first match if all matches are in one group. The options do not name a group, so a member of one group
  /// could otherwise choose what is read from another group, or the recipients of a new secret.
  ///
  /// - Throws: `ambiguous` for matches in several groups; the errors of `run(in:_:)`.
  func choice(in index: Index, _ call: CommandCall) throws -> ItemRecord? {
    let found = try run(in: index, call)
    guard let first = found.first else { return nil }
    guard found.allSatisfy({ $0.group == first.group }) else {
      throw CommandError.ambiguous("these attributes", candidates: found.map(\.reference.text))
    }
    return first
  }
}

extension SecurityCall {
  /// The default authentication type of an internet password.
  static let usualType = Array("dflt".utf8)

  /// Returns the code of four characters that was given for a letter, or nil if the letter was not given.
  ///
  /// - Throws: `SecurityFailure` for a code without exactly four characters.
  func code(_ letter: Unicode.Scalar) throws -> [UInt8]? {
    guard let bytes = options.bytes(letter) else { return nil }
    if bytes.count == 4 { return bytes }
    var lines = ["security: -\(letter) takes a code of exactly four characters"]
    if bytes.count == 3 {
      let text = Escaping.terminal.show(bytes)
      lines.append("(Try \"\(text) \" instead of \"\(text)\")")
    }
    throw SecurityFailure(.failure, lines)
  }

  /// Returns the port, or nil if none or 0 was given.
  ///
  /// - Throws: `SecurityFailure` with a usage status for an invalid port.
  func port() throws -> Int64? {
    guard command.letters.contains(bytesOf: "P:"), let bytes = options.bytes("P") else { return nil }
    guard let number = Int64(String(decoding: bytes, as: UTF8.self)), (0...65535).contains(number) else {
      throw SecurityFailure(.usage, ["security: -P takes a number from 0 to 65535"])
    }
    return number == 0 ? nil : number
  }
}
