internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Secrets
internal import Terminal

/// `add-generic-password` and `add-internet-password`.
enum SecurityAddition {
  static let generic = SecurityCommand(
    "add-generic-password", ":a:c:C:D:G:j:l:s:p:w:X:UAT:h", secrets: "pwX",
    usage: """
      -a account -s service [-w [password] | -X hex] [-l label] [-D kind] [-j comment] [-G value]
              [-c creator] [-C type] [-U] [-A | -T application] [keychain]
          -w and -X show the password to everybody on this machine; -w at the very end asks for it
          -U changes the item when it exists
      """,
    "Add a generic password.", writes: true
  ) { call in try add(call, .genericPassword) }

  static let internet = SecurityCommand(
    "add-internet-password", ":a:c:C:d:D:j:l:p:P:r:s:t:w:X:UAT:h", secrets: "wX",
    usage: """
      -a account -s server [-w [password] | -X hex] [-l label] [-D kind] [-j comment] [-d domain]
              [-p path] [-P port] [-r protocol] [-t type] [-c creator] [-C type] [-U] [-A | -T application] [keychain]
          -w and -X show the password to everybody on this machine; -w at the very end asks for it
          -U changes the item when it exists
      """,
    "Add an internet password.", writes: true
  ) { call in try add(call, .internetPassword) }

  private static func add(_ call: SecurityCall, _ itemClass: ItemClass) throws {
    let options = call.options
    guard !options.has("h"), options.has("a"), options.has("s") else { throw SecurityFailure.usage }
    try call.requireOneKeychain()
    let letters = itemClass == .genericPassword ? "pw" : "w"
    if let lacking = options.lackingValue, !letters.unicodeScalars.contains(lacking) {
      throw SecurityFailure.usage
    }
    let given = try attributes(call, itemClass)
    let known = SecuritySearch.self
    let meant = try known.init(adding: call, itemClass, isExact: false)
    let inTheWay = try known.init(adding: call, itemClass, isExact: true)
    let search = options.has("U") ? meant : inTheWay
    // Asked for once, and kept when it has to be tried again.
    var answer: Answer?
    for attempt in 1... {
      do {
        return try store(given, search, itemClass, &answer, call)
      } catch let error as SecurityFailure {
        // Another program was faster: what it has added is to be changed, and what it has deleted to be added.
        let isOvertaken = error.status == .duplicateItem || error.status == .itemNotFound
        guard isOvertaken, answer != nil, options.has("U"), attempt < Self.attempts else { throw error }
      }
    }
  }

  /// The number of attempts of an addition while others add and delete the same item.
  private static let attempts = 8

  /// The secret as it was given: nil when none was.
  private struct Answer {
    let secret: SecretSlice?
  }

  /// Looks for the item, and adds or changes it.
  ///
  /// - Parameter answer: the secret, where it is known already; it is set once it was asked for.
  private static func store(
    _ given: Attributes, _ search: SecuritySearch, _ itemClass: ItemClass, _ answer: inout Answer?,
    _ call: SecurityCall
  ) throws {
    // What can be known to fail is looked at before a person is asked.
    let keyring = try call.openKeyring()
    let place = place(itemClass)
    let found = try securityCall(place) {
      try call.call.requireWritable(keyring)
      // Without -U any of them is in the way.
      return try call.options.has("U")
        ? search.choice(in: keyring.index, call.call) : search.run(in: keyring.index, call.call).first
    }
    guard let found else {
      let item = NewItem(itemClass: itemClass, attributes: withDefaults(given, itemClass))
      try securityCall(place) {
        try call.call.requireWritable(keyring, group: item.group)
      }
      let secret = try secret(call, &answer)?.copy() ?? SecretBytes()
      return try add(item, secret, to: keyring, at: place)
    }
    guard call.options.has("U") else {
      throw SecurityFailure(
        .duplicateItem, at: place,
        [
          "keytree: \(found.reference.text) is there already",
          "hint: -U changes it",
        ])
    }
    try update(found, given, keyring, &answer, call)
  }

  private static func place(_ itemClass: ItemClass) -> String {
    itemClass == .genericPassword
      ? "SecKeychainItemCreateFromContent (<default>)" : "SecKeychainAddInternetPassword <NULL>"
  }

  // MARK: Attributes

  /// The attributes that were given.
  private static func attributes(
    _ call: SecurityCall, _ itemClass: ItemClass
  ) throws -> Attributes {
    var attributes = Attributes()
    for (letter, name) in SecuritySearch.texts(of: itemClass) {
      guard let bytes = call.options.bytes(letter) else { continue }
      attributes[name] = AttributeValue(text: bytes)
    }
    if let port = try call.port() { attributes[.port] = .integer(port) }
    for (letter, name) in SecuritySearch.codes(of: itemClass) {
      guard let code = try call.code(letter) else { continue }
      attributes[name] = value(of: code, name)
    }
    return attributes
  }

  /// A code as the store keeps it: a word for a protocol and a kind of authentication, a number for the others.
  private static func value(of code: [UInt8], _ name: AttributeName) -> AttributeValue {
    guard name == .protocol || name == .authenticationType else {
      return .integer(code.reduce(0) { $0 << 8 | Int64($1) })
    }
    guard let text = String(validating: code, as: UTF8.self) else { return .bytes(code) }
    return .string(FourCharacterCode.word(for: text, of: name))
  }

  /// The attributes of a new item: the service or server is its label, and `dflt` its kind of authentication, when
  /// they were not given. What is empty is left out.
  private static func withDefaults(_ given: Attributes, _ itemClass: ItemClass) -> Attributes {
    var attributes = given
    if given[.label] == nil { attributes[.label] = given[itemClass == .genericPassword ? .service : .server] }
    if itemClass == .internetPassword, given[.authenticationType] == nil {
      attributes[.authenticationType] = value(of: SecurityCall.usualType, .authenticationType)
    }
    for entry in attributes.entries where entry.value.contentBytes?.isEmpty == true {
      attributes[entry.name] = nil
    }
    return attributes
  }

  // MARK: The secret

  /// The secret that was given: nil when none was, which is the empty one for a new item, and the old one for an
  /// item that changes.
  private static func secret(_ call: SecurityCall) throws -> SecretBytes? {
    let isGeneric = call.command.name == generic.name
    // At the very end of the line, so it is the last of several.
    if call.options.lackingValue != nil { return try ask(call.console) }
    guard let (letter, text) = call.options.last(of: isGeneric ? "pwX" : "wX") else { return nil }
    if letter != "X" { return text.copy() }
    guard let secret = SecurityText.decode(hexadecimal: text) else {
      throw SecurityFailure(.usage, ["security: -X takes hexadecimal digits"])
    }
    return secret
  }

  /// The same, asked for once.
  private static func secret(
    _ call: SecurityCall, _ answer: inout Answer?
  ) throws -> SecretSlice? {
    if let answer { return answer.secret }
    let given: SecretSlice? = if let secret = try secret(call) { SecretSlice(secret) } else { nil }
    answer = Answer(secret: given)
    return given
  }

  /// Asks for a new password, twice, at most three times.
  private static func ask(_ console: Console) throws -> SecretBytes {
    for _ in 0..<3 {
      let first = try answer("password data for new item: ", console)
      let second = try answer("retype password for new item: ", console)
      if first.isEqual(to: second) { return first }
      console.complain("passwords don't match")
    }
    throw SecurityFailure(.failure, [])
  }

  private static func answer(_ prompt: String, _ console: Console) throws -> SecretBytes {
    let limit = StoreLayout.secretLimit
    do {
      if console.inputIsTerminal { return try console.askSecret(prompt, limit: limit) }
      // As getpass(3) does without a terminal.
      console.writeDiagnostics("\(prompt)")
      if let line = try console.readProgramLine(limit: limit) { return line }
    } catch {
      throw SecurityFailure(error, at: "getpass")
    }
    console.writeDiagnostics("\n")
    throw SecurityFailure(
      .failure, ["security: the password could not be asked for: standard input has ended"])
  }

  // MARK: Writing

  private static func add(
    _ item: NewItem, _ secret: borrowing SecretBytes, to keyring: Keyring, at place: String
  ) throws {
    do {
      try keyring.add(item, secret: secret)
    } catch {
      throw SecurityFailure(error, at: place)
    }
  }

  private static func update(
    _ record: ItemRecord, _ given: Attributes, _ keyring: Keyring, _ answer: inout Answer?,
    _ call: SecurityCall
  ) throws {
    let place = "SecKeychainItemModifyContent"
    var changes = AttributeChanges()
    for entry in given.entries {
      if entry.value.contentBytes?.isEmpty == true {
        changes.clear.append(entry.name)
      } else if record.attributes[entry.name]?.isSame(as: entry.value) != true {
        changes.set[entry.name] = entry.value
      }
    }
    try securityCall(place) {
      try call.call.requireWritable(keyring, group: record.group)
    }
    let secret = try secret(call, &answer)
    do {
      if let secret {
        let bytes = secret.copy()
        try keyring.update(record, changes, secret: bytes)
      } else {
        try keyring.update(record, changes)
      }
    } catch {
      throw SecurityFailure(error, at: place)
    }
  }
}
