package import Arguments
package import CommandSupport
internal import Credentials
internal import Keyring
internal import KeyringModel
internal import Secrets
internal import Terminal

/// A credential provider of cargo: `cargo-credential-keytree --cargo-plugin`.
///
/// It answers one request per line until standard input ends. Errors are answers, too.
package struct CargoProgram {
  private let call: CommandCall

  package init(_ call: CommandCall) { self.call = call }

  /// Answers all requests.
  ///
  /// - Returns: 0 at the end of the requests; 2 if the arguments are not those of a provider.
  package func status(of words: [Word]) -> Int32 {
    guard words.count == 1, words[0].text == "--cargo-plugin" else {
      call.console.complain(
        "keytree: cargo-credential-keytree must be started by cargo, with `--cargo-plugin`")
      call.console.complain(
        "hint: set `global-credential-providers = [\"cargo-credential-keytree\"]` in the section `[registry]` of "
          + "`~/.cargo/config.toml`")
      return 2
    }
    return CredentialProgram.run(call.console) {
      call.console.print(CargoCredentialProvider.greeting)
      call.console.flush()
      while let line = try call.console.readProgramLine(limit: CredentialLimits.message) {
        answer(line)
        call.console.flush()
        if call.console.outputIsClosed { break }
      }
      return 0
    }
  }

  private func answer(_ line: borrowing SecretBytes) {
    // Another process may have changed the policy or the repository since the last request.
    call.store.closeKeyring()
    call.store.forgetRepository()
    do {
      let request = try CargoRequest(line)
      switch request.kind {
      case .get: try get(request)
      case .login(let token, let page): try login(request, token, page)
      case .logout: try logout(request)
      case .unknown: refuse("operation-not-supported")
      }
    } catch {
      tell(error)
    }
  }

  private func get(_ request: CargoRequest) throws {
    let keyring = try call.openKeyring()
    keyring.warmUp()
    guard let answer = try CargoCredentialProvider(keyring).token(of: request.indexURL)
    else {
      return refuse("not-found")
    }
    call.console.print(json: answer)
  }

  private func login(_ request: CargoRequest, _ given: SecretSlice?, _ page: String?) throws {
    let token: SecretSlice
    if let given {
      token = given
    } else {
      if let page { call.console.say("Get a token at \(Escaping.terminal.show(page))") }
      let name = Escaping.terminal.show(request.name ?? request.indexURL)
      token = SecretSlice(
        try call.console.askSecretBesideProgram("Token for \(name): ", limit: StoreLayout.secretLimit))
    }
    guard !token.isEmpty else { throw TerminalError.emptySecret }
    try call.changing { keyring in
      try CargoCredentialProvider(keyring).store(token, for: request)
    }
    call.console.print("{\"Ok\":{\"kind\":\"login\"}}")
  }

  private func logout(_ request: CargoRequest) throws {
    var isFound = false
    try call.changing { keyring in
      isFound = try CargoCredentialProvider(keyring).erase(request.indexURL)
      return isFound
    }
    if isFound { call.console.print("{\"Ok\":{\"kind\":\"logout\"}}") } else { refuse("not-found") }
  }

  private func refuse(_ kind: String) {
    call.console.print("{\"Err\":{\"kind\":\"\(kind)\"}}")
  }

  private func tell(_ failure: any Error) {
    let report = ErrorReport(describing: failure)
    let error = JSONValue.object([
      JSONMember("caused-by", .array((report.details + [report.hint].compactMap { $0 }).map { .string($0) })),
      JSONMember("kind", .string("other")), JSONMember("message", .string(report.message ?? "")),
    ])
    call.console.write([JSONMember("Err", error)])
  }
}
