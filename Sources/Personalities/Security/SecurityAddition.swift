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
          every user of this machine can see a password given with -w or -X; -w as the last word prompts for it
          -U updates an existing item
      """,
    "Add a generic password.", writes: true
  ) { call in try add(call, .genericPassword) }

  static let internet = SecurityCommand(
    "add-internet-password", ":a:c:C:d:D:j:l:p:P:r:s:t:w:X:UAT:h", secrets: "wX",
    usage: """
      -a account -s server [-w [password] | -X hex] [-l label] [-D kind] [-j comment] [-d domain]
              [-p path] [-P port] [-r protocol] [-t type] [-c creator] [-C type] [-U] [-A | -T application] [keychain]
          every user of this machine can see a password given with -w or -X; -w as the last word prompts for it
          -U updates an existing item
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
    // The user is asked once, even if the addition is retried.
    var answer: Answer?
    for attempt in 1... {
      do {
        return try store(given, search, itemClass, &answer, call)
      } catch let error as SecurityFailure {
        // Another program added or deleted the item at the same time. The next attempt updates or adds it.
        let isOvertaken = error.status == .duplicateItem || error.status == .itemNotFound
        guard isOvertaken, answer != nil, options.has("U"), attempt < Self.attempts else { throw error }
      }
    }
  }

  /// The maximum number of attempts while other programs add and delete the same item.
  private static let attempts = 8

  /// The secret from the user; nil if none was given.
  private struct Answer {
    let secret: SecretSlice?
  }

  /// Adds the item, or updates the existing one.
  ///
  /// - Parameter answer: the secret, if it is already known; set after the user was asked.
  private static func store(
    _ given: Attributes, _ search: SecuritySearch, _ itemClass: ItemClass, _ answer: inout Answer?,
    _ call: SecurityCall
  ) throws {
    // All checks that can fail are made before the user is asked for the secret.
    let keyring = try call.openKeyring()
    let place = place(itemClass)
    let found = try securityCall(place) {
      try call.call.requireWritable(keyring)
      // Without -U, any existing item is a conflict.
      return try call.options.has("U")
        ? search.choice(in: keyring.index, call.call) : search.run(in: keyring.index, call.call).first
    }
    guard let found else {
      let item = NewItem(itemClass: itemClass, attributes: withDefaults(given, itemClass))
      try securityCall(place) {
        try call.call.requireWritable(keyring, group: item.group)
        try keyring.requireNewName(item)
      }
      let secret = try secret(call, &answer)?.copy() ?? SecretBytes()
      return try add(item, secret, to: keyring, at: place)
    }
    guard call.options.has("U") else {
      throw SecurityFailure(
        .duplicateItem, at: place,
        [
          "keytree: \(found.reference.text) already exists",
          "hint: use -U to update it",
        ])
    }
    try update(found, given, keyring, &answer, call)
  }

  private static func place(_ itemClass: ItemClass) -> String {
    itemClass == .genericPassword
      ? "SecKeychainItemCreateFromContent (<default>)" : "SecKeychainAddInternetPassword <NULL>"
  }

  // MARK: Attributes

  /// Returns the attributes from the options.
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

  /// Returns the stored value of a code: a word for a protocol or an authentication type, a number for the others.
  private static func value(of code: [UInt8], _ name: AttributeName) -> AttributeValue {
    guard name == .protocol || name == .authenticationType else {
      return .integer(code.reduce(0) { $0 << 8 | Int64($1) })
    }
    guard let text = String(validating: code, as: UTF8.self) else { return .bytes(code) }
    return .string(FourCharacterCode.word(for: text, of: name))
  }

  /// Returns the attributes of a new item. The default label is the service or server, the default authentication type
  /// is `dflt`. Empty attributes are left out.
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

  /// Returns the given secret, or nil if none was given: then a new item gets an empty secret, and an existing item
  /// keeps its secret.
  private static func secret(_ call: SecurityCall) throws -> SecretBytes? {
    let isGeneric = call.command.name == generic.name
    // An option without its value is the last word, so it overrides the earlier ones.
    if call.options.lackingValue != nil { return try ask(call.console) }
    guard let (letter, text) = call.options.last(of: isGeneric ? "pwX" : "wX") else { return nil }
    if letter != "X" { return text.copy() }
    guard let secret = SecurityText.decode(hexadecimal: text) else {
      throw SecurityFailure(.usage, ["security: -X takes hexadecimal digits"])
    }
    return secret
  }

  /// Returns the given secret, and asks the user for it only once.
  private static func secret(
    _ call: SecurityCall, _ answer: inout Answer?
  ) throws -> SecretSlice? {
    if let answer { return answer.secret }
    let given: SecretSlice? = if let secret = try secret(call) { SecretSlice(secret) } else { nil }
    answer = Answer(secret: given)
    return given
  }

  /// Asks for a new password twice, and repeats this at most three times if the entries differ.
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
      // Without a terminal, this reads standard input like getpass(3).
      console.writeDiagnostics("\(prompt)")
      if let line = try console.readProgramLine(limit: limit) { return line }
    } catch {
      throw SecurityFailure(error, at: "getpass")
    }
    console.writeDiagnostics("\n")
    throw SecurityFailure(
      .failure, ["security: cannot prompt for the password: standard input has ended"])
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
      try keyring.requireReplaceable(record)
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
