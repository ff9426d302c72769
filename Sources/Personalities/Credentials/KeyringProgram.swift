package import Arguments
package import CommandSupport
internal import Credentials
internal import Keyring
internal import KeyringModel
internal import Secrets
internal import Terminal

/// The command `keyring` of Python, which pip and uv run: `keyring get URL USER`.
package struct KeyringProgram {
  private let call: CommandCall

  package init(_ call: CommandCall) { self.call = call }

  private static let usage =
    "usage: keyring [--mode password|creds] [--output plain|json] get|set|del SERVICE USERNAME"

  /// Runs the command.
  ///
  /// - Returns: 0; 1 if the password does not exist, with empty standard output; 2 for invalid arguments.
  package func status(of words: [Word]) -> Int32 {
    guard let request = Request(words) else {
      call.console.complain(Self.usage)
      return 2
    }
    return CredentialProgram.run(call.console) {
      switch request.action {
      case .help: call.console.print(Self.usage)
      case .get: return try get(request)
      case .set: try set(request)
      case .delete: return try delete(request)
      }
      return 0
    }
  }

  private func get(_ request: Request) throws -> Int32 {
    let keyring = try call.openKeyring()
    keyring.warmUp()
    let logins = logins(keyring)
    let found = try logins.find(service: request.service, account: request.account)
    guard let (account, secret, item) = found else { return 1 }
    if request.isJSON {
      call.console.print(json: try object(account, secret, item, request))
      return 0
    }
    if request.wantsAccount {
      // The calling program reads the second line as the password.
      guard !account.contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D }) else {
        throw CredentialError.notRepresentable(item)
      }
      // In a pipe the account is written unescaped, because a program reads it.
      if call.console.outputIsTerminal {
        call.console.print(Escaping.terminal.show(account))
      } else {
        call.console.write(account + [UInt8(ascii: "\n")])
      }
    }
    call.console.writeExactly(secret.copy())
    call.console.write("\n")
    return 0
  }

  /// Returns the answer as JSON.
  private func object(
    _ account: [UInt8], _ secret: SecretSlice, _ item: ItemReference, _ request: Request
  ) throws -> SecretBytes {
    let account = SecretSlice(SecretBytes(copying: account))
    var object = SecretBytes(capacity: secret.count * 2 + account.count * 2 + 64)
    var separator = "{"
    for (name, value) in [("password", secret)] + (request.wantsAccount ? [("username", account)] : []) {
      guard unsafe value.withBytes({ unsafe SecretText.isUTF8($0) }) else {
        throw CredentialError.notUTF8(item)
      }
      object.append("\(separator)\"\(name)\":")
      unsafe value.withBytes { unsafe object.append(jsonString: $0) }
      separator = ","
    }
    object.append("}")
    return object
  }

  private func logins(_ keyring: Keyring) -> ServiceLogins {
    ServiceLogins(keyring, recent: call.recentLogins(of: keyring), now: call.environment.clock())
  }

  private func set(_ request: Request) throws {
    guard let account = request.account else { return }
    let name = Escaping.terminal.show(request.service)
    let secret: SecretSlice
    if call.console.inputIsTerminal {
      secret = SecretSlice(
        try call.console.askSecret("Password for \(name): ", limit: StoreLayout.secretLimit))
    } else {
      let input = SecretSlice(try call.console.readAll(limit: StoreLayout.secretLimit + 1))
      let endsLine = unsafe input.withBytes { unsafe $0.last } == UInt8(ascii: "\n")
      secret = input.part(0..<input.count - (endsLine ? 1 : 0))
    }
    guard !secret.isEmpty else { throw TerminalError.emptySecret }
    try call.changing { keyring in
      try logins(keyring).store(secret, service: request.service, account: account)
    }
  }

  private func delete(_ request: Request) throws -> Int32 {
    guard let account = request.account else { return 1 }
    var isFound = false
    try call.changing { keyring in
      isFound = try logins(keyring).remove(service: request.service, account: account)
      return isFound
    }
    return isFound ? 0 : 1
  }
}

extension KeyringProgram {
  /// The parsed arguments.
  private struct Request {
    enum Action { case get, set, delete, help }

    var action = Action.get
    var service: [UInt8] = []
    var account: [UInt8]?
    var wantsAccount = false
    var isJSON = false

    private static let options = ["mode", "output"]

    /// Sets the value of an option. Returns false if the option does not have this value.
    private mutating func set(_ option: String, to value: Word) -> Bool {
      switch (option, value.text) {
      case ("mode", "password"), ("mode", "creds"): wantsAccount = value.text == "creds"
      case ("output", "plain"), ("output", "json"): isJSON = value.text == "json"
      default: return false
      }
      return true
    }

    init?(_ words: [Word]) {
      var reader = ArgumentReader(words)
      var operands: [Word] = []
      do {
        while let token = try reader.next() {
          switch token {
          case .operand(let word): operands.append(word)
          case .long(let name) where Self.options.contains(name):
            guard set(name, to: try reader.value()) else { return nil }
          case .long("help"), .short("h"):
            action = .help
            return
          default: return nil
          }
          // The service and the account may begin with a hyphen, and pip does not put `--` before them.
          if operands.count == 1 {
            var rest = Array(reader.rest())
            if rest.first?.text == "--" { rest.removeFirst() }
            // uv runs `get URL --mode creds`. If two words are left, the second one is always an account.
            while rest.count > 2, let option = rest[rest.count - 2].text, option.hasPrefix("--"),
              Self.options.contains(String(option.dropFirst(2)))
            {
              guard set(String(option.dropFirst(2)), to: rest[rest.count - 1]) else { return nil }
              rest.removeLast(2)
            }
            operands += rest
          }
        }
      } catch {
        return nil
      }
      guard let verb = operands.first?.text, (2...3).contains(operands.count) else { return nil }
      switch verb {
      case "get": action = .get
      case "set": action = .set
      case "del": action = .delete
      default: return nil
      }
      service = operands[1].bytes
      account = operands.count == 3 ? operands[2].bytes : nil
      // The account can be omitted only if account and password are requested.
      if account == nil, action != .get || !wantsAccount { return nil }
    }
  }
}
