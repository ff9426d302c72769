internal import BrowserHost
internal import Credentials
internal import Encoding
internal import OneTimePasswords
internal import Personalities
internal import Secrets

extension FuzzTarget {
  /// The readers of the protocols of other programs.
  static let protocolTargets = [
    FuzzTarget("git-credential", gitCredential), FuzzTarget("docker-credential", dockerCredential),
    FuzzTarget("cargo-credential", cargoCredential), FuzzTarget("passphrase-prompt", passphrasePrompt),
    FuzzTarget("browser-request", browserRequest), FuzzTarget("browser-login", browserLogin),
    FuzzTarget("security-line", securityLine), FuzzTarget("otpauth", otpauth),
  ]

  @Sendable private static func gitCredential(_ bytes: [UInt8]) {
    let message = SecretSlice(SecretBytes(copying: bytes))
    guard let credential = parsed({ try GitCredential(message) }) else { return }
    guard let written = credential.encoded()?.array else { return expect(false, "a message can be written") }
    let copy = SecretSlice(SecretBytes(copying: written))
    let again = parsed { try GitCredential(copy) }
    expect(again?.encoded()?.array == written, "a written message is the same")
  }

  @Sendable private static func dockerCredential(_ bytes: [UInt8]) {
    let message = SecretBytes(copying: bytes)
    guard let credential = parsed({ try DockerCredential(message) }) else { return }
    expect(credential.secret.count <= bytes.count, "the secret is not longer than the message")
  }

  @Sendable private static func cargoCredential(_ bytes: [UInt8]) {
    let line = SecretBytes(copying: bytes)
    guard let request = parsed({ try CargoRequest(line) }) else { return }
    expect(!request.indexURL.isEmpty, "a request has a registry")
  }

  @Sendable private static func passphrasePrompt(_ bytes: [UInt8]) {
    let arguments = bytes.split(separator: UInt8(ascii: " ")).map { Array($0) }
    let keygen = PromptCaller(name: "ssh-keygen", arguments: { arguments }, version: { nil })
    for caller in [PromptCaller.ssh, .keyProgram(key: nil), keygen].compactMap(\.self) {
      switch PassphrasePrompt(bytes, from: caller) {
      case .key(let path):
        expect(!path.isEmpty && path.count < bytes.count, "the path is a part of the prompt")
      case .login(let account, let host):
        expect(caller == .ssh && account.count + host.count < bytes.count, "only ssh asks for a login")
      case nil: break
      }
    }
    _ = PromptCaller(name: "ssh", arguments: { [] }, version: { String(decoding: bytes, as: UTF8.self) })
  }

  @Sendable private static func browserRequest(_ bytes: [UInt8]) {
    let header = SecretBytes(copying: bytes.prefix(NativeFrame.headerSize))
    let message = SecretBytes(copying: bytes.dropFirst(NativeFrame.headerSize))
    if let length = NativeFrame.length(header) { expect(length >= 0, "a length is not negative") }
    expect(
      NativeFrame.length(
        SecretBytes(copying: NativeFrame.frame(message).array.prefix(NativeFrame.headerSize)))
        == message.count, "a frame begins with the length of its message")
    guard let request = parsed({ () throws(BrowserError) in try BrowserRequest(message) }) else { return }
    let error = BrowserError(.requestUnreadable, "a message", detail: request.action)
    let answer = BrowserAnswer(error, action: request.action)
    expect(answer.message.count <= NativeFrame.answerLimit, "an answer is within its limit")
    if let file = request.file { check(file) }
    _ = parsed { () throws(BrowserError) in try BrowserAnswer(echo: request.echo).status }
    if let contents = request.contents { _ = SavedLogin(contents) }
  }

  private static func check(_ file: [UInt8]) {
    guard let name = LoginName(file: file) else { return }
    expect(name.file == file, "a name has one spelling")
  }

  @Sendable private static func browserLogin(_ bytes: [UInt8]) {
    check(bytes)
    _ = SavedLogin(SecretSlice(SecretBytes(copying: bytes)))
    var reader = InputReader(bytes)
    let account = reader.string()
    let url = reader.string()
    let seed = reader.string()
    let secret = reader.remainder()
    let sent = SentLogin(
      secret: SecretSlice(SecretBytes(copying: secret)), account: account, url: url.isEmpty ? nil : url,
      seed: seed.isEmpty ? nil : SecretSlice(SecretBytes(copying: seed)))
    let written = parsed { () throws(SentLogin.Obstacle) in try sent.contents() }
    guard let written else { return }
    guard let saved = SavedLogin(SecretSlice(written)) else {
      return expect(false, "a sent login can be saved")
    }
    expect(saved.secret.isEqual(to: sent.secret), "a login that is sent and saved has the same secret")
    // The extension removes white space from the ends of an account, and leaves out one that a line cannot contain.
    expect(saved.account.map { ByteSearch.contains(account, $0) } ?? true, "it has the same account, or none")
  }

  @Sendable private static func securityLine(_ bytes: [UInt8]) {
    let words = SecurityLine.words(of: SecretBytes(copying: bytes))
    expect(words.reduce(0) { $0 + $1.count } <= bytes.count, "the words are not longer than the line")
  }

  @Sendable private static func otpauth(_ bytes: [UInt8]) {
    let text = SecretBytes(copying: bytes)
    guard let seed = parsed({ () throws(SeedError) in try Seed(text) }) else { return }
    let code = parsed { () throws(CodeError) in try seed.code(counter: 1).count }
    expect(code == nil || code == seed.digits, "a code has its number of digits")
    let address = seed.address(issuer: "", account: "account")
    guard let again = parsed({ () throws(SeedError) in try Seed(address) }) else {
      return expect(address.count > Seed.limit, "a written seed can be read")
    }
    expect(
      again.hash == seed.hash && again.digits == seed.digits && again.isSteam == seed.isSteam,
      "a written seed has the same codes")
    expect(again.factor == seed.factor, "a written seed has the same factor")
    expect(
      again.address(issuer: "", account: "account").isEqual(to: address),
      "the form of a written seed is stable")
    if case .counter(let counter) = seed.factor, let next = seed.advanced(text) {
      let factor = parsed { () throws(SeedError) in try Seed(next).factor }
      expect(factor == .counter(counter + 1) || next.count > Seed.limit, "the counter is incremented")
    }
  }
}
