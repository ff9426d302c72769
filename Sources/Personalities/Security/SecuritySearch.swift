internal import CommandSupport
internal import Credentials
internal import Keyring
internal import KeyringModel
internal import Terminal

/// The passwords that the letters of a command stand for.
///
/// Codes of four characters are compared as codes: an index may have a word for one, the code itself, or a number.
struct SecuritySearch {
  private let itemClass: ItemClass
  private var predicates: [Predicate] = []
  private var codes: [(name: AttributeName, accepted: [[UInt8]])] = []
  /// A Boolean value that indicates whether tokens are left out, because the search does not ask for them.
  private var leavesOutOtherTypes = true

  /// Takes the letters that a find, a delete or an access list has in common.
  ///
  /// - Throws: a failure for a code that has not four characters.
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

  /// The letters for text, and what they are for.
  static func texts(of itemClass: ItemClass) -> [(Unicode.Scalar, AttributeName)] {
    let common: [(Unicode.Scalar, AttributeName)] = [
      ("a", .account), ("D", .kind), ("j", .comment), ("l", .label),
    ]
    return common
      + (itemClass == .genericPassword
        ? [("s", .service), ("G", .generic)] : [("s", .server), ("d", .securityDomain), ("p", .path)])
  }

  /// The letters for codes of four characters, and what they are for.
  static func codes(of itemClass: ItemClass) -> [(Unicode.Scalar, AttributeName)] {
    let common: [(Unicode.Scalar, AttributeName)] = [("c", .creator), ("C", .type)]
    return common + (itemClass == .genericPassword ? [] : [("r", .protocol), ("t", .authenticationType)])
  }

  private mutating func match(_ name: AttributeName, _ bytes: [UInt8]?) {
    guard let bytes else { return }
    predicates.append(.equal(name, AttributeValue(text: bytes)))
  }

  /// The items that `-U` means with the letters of an addition: those that have the account, the service or server,
  /// and whatever else of a primary key was given. Label, comment and the like are not asked for, but set.
  ///
  /// - Parameter isExact: whether what was not given has to be missing, as it is for an item that is in the way of a
  ///   new one.
  init(adding call: SecurityCall, _ itemClass: ItemClass, isExact: Bool) throws {
    self.itemClass = itemClass
    let key = AttributeSchema.primaryKey(of: itemClass)
    for (letter, name) in Self.texts(of: itemClass) where key.contains(name) {
      match(name, call.options.bytes(letter) ?? (isExact ? [] : nil))
    }
    // Whatever has the key is in the way.
    leavesOutOtherTypes = false
    guard itemClass == .internetPassword else { return }
    let port = try call.port()
    if port != nil || isExact { predicates.append(.equal(.port, .integer(port ?? 0))) }
    if let code = try call.code("r") {
      codes.append((.protocol, [code]))
    } else if isExact {
      codes.append((.protocol, [[], [0, 0, 0, 0]]))
    }
    // An item that says nothing of it is one of the usual kind.
    let type = try call.code("t")
    codes.append((.authenticationType, type.map { [$0] } ?? [SecurityCall.usualType, []]))
  }

  /// A Boolean value that indicates whether no condition was given.
  var isEmpty: Bool { predicates.isEmpty && codes.isEmpty }

  /// The matches in the order of their creation. Tokens that programs keep beside a password, with its account and
  /// server, are none unless `-t` asks for them: a script that takes or deletes a password must not get anything else.
  /// Fields are never among them.
  ///
  /// - Throws: `KeyringError`, and `noMatchButDamage` when lines of the index that may be a match are damaged.
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

  /// Returns true if an item is a password, including one that was stored here with a code that has no name.
  private static func isPassword(_ record: ItemRecord) -> Bool {
    if LoginItems.isPassword(record) { return true }
    return record.attributes[.authenticationType]?.contentBytes?.count == 4
  }

  /// The question that one of the matches answers, codes included: what the item says about itself has to agree.
  func query(for record: ItemRecord) -> Query {
    let exact = codes.compactMap { entry in
      record.attributes[entry.name].map { Predicate.equal(entry.name, $0) }
    }
    return Query(itemClass: itemClass, predicates: predicates + exact)
  }

  /// The first match.
  ///
  /// - Throws: status 44 when there is none; and as `choice(in:_:)`.
  func first(in index: Index, _ call: SecurityCall) throws -> ItemRecord {
    let place = "SecKeychainSearchCopyNext"
    let found = try securityCall(place) { try choice(in: index, call.call) }
    guard let found else { throw SecurityFailure(.itemNotFound, at: place) }
    return found
  }

  /// The first match, if all are in one group. The letters name no group, and a member of one group could otherwise
  /// choose
  /// what is read from another group, or to whom a new secret is encrypted.
  ///
  /// - Throws: `ambiguous`; and as `run(in:_:)`.
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
  /// The kind of authentication of an internet password that was given none.
  static let usualType = Array("dflt".utf8)

  /// A code of four characters.
  ///
  /// - Throws: a failure for one that has not four.
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

  /// The port; nil without one, and for 0.
  ///
  /// - Throws: a usage error for what is no port.
  func port() throws -> Int64? {
    guard command.letters.contains("P:"), let bytes = options.bytes("P") else { return nil }
    guard let number = Int64(String(decoding: bytes, as: UTF8.self)), (0...65535).contains(number) else {
      throw SecurityFailure(.usage, ["security: -P takes a number from 0 to 65535"])
    }
    return number == 0 ? nil : number
  }
}
