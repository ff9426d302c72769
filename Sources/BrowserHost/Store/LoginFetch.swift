internal import Credentials
package import Encoding
package import Keyring
internal import KeyringModel
package import Secrets

/// Reads one login for the extension.
package struct LoginFetch {
  private let keyring: Keyring
  private let settings: BrowserSettings
  private let limit: FetchLimit

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - keyring: The keyring.
  ///   - settings: The user's settings.
  ///   - limit: The limit for the number of fetches.
  package init(_ keyring: Keyring, _ settings: BrowserSettings, limit: FetchLimit) {
    (self.keyring, self.settings, self.limit) = (keyring, settings, limit)
  }

  /// Decrypts the login that a request names, and nothing else, except for its seed of one-time passwords if the
  /// extension shows them. If the seed cannot be read, the login is sent without it.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - now: The current time.
  ///   - report: Is called if the seed cannot be read.
  /// - Returns: The content for the extension.
  /// - Throws: `notAPasswordFile` for a name without `.gpg`; `cannotDecrypt` if no login has the name, if it is for
  ///   another host than that of the tab, if too many were fetched, or if the extension could not read the secret;
  ///   `KeyringError`.
  package func contents(
    of request: BrowserRequest, now: Timestamp, report: () -> Void = {}
  ) throws -> SecretBytes {
    let login = try login(of: request)
    try requireHost(of: login, request)
    try limit.take(now: now)
    let reader = LoginItems(keyring: keyring)
    let secret = try reader.secret(of: login.record)
    let seed = request.wantsSeed ? seed(of: login.record, report) : nil
    do throws(SentLogin.Obstacle) {
      return try SentLogin(secret: secret, account: login.account, url: login.url, seed: seed).contents()
    } catch {
      throw BrowserError(
        .cannotDecrypt, "\(error.message); `keytree get \(login.record.reference.text)` works")
    }
  }

  private func login(of request: BrowserRequest) throws -> WebLogin {
    let name = try LoginName(requested: request.file)
    let search = LoginSearch(keyring.index, settings)
    let (match, isDamaged) = try name.map { try search.login(named: $0) } ?? (.none, false)
    switch match {
    case .login(let login): return login
    case .contested: throw BrowserError.contested(.cannotDecrypt)
    case .none: break
    }
    throw BrowserError(
      .cannotDecrypt,
      isDamaged
        ? "no such login, but the index is damaged; run `keytree check`"
        : "no such login; \(BrowserError.reload)")
  }

  private func requireHost(of login: WebLogin, _ request: BrowserRequest) throws(BrowserError) {
    let tab = request.origin.flatMap(TabSite.init(origin:))
    let isForTab = tab.map(login.isFor(site:)) ?? false
    let mistakesAccount = tab.map { login.takesAccountForHost(inTab: $0.host) } ?? false
    guard mistakesAccount || (settings.restrictsToSite && !isForTab) else { return }
    // If only the protocol or the port differs, the host alone would not explain the refusal.
    let place = settings.restrictsToSite ? login.site : login.host
    throw BrowserError(
      .cannotDecrypt, "this login is for \(String(decoding: place, as: UTF8.self)); open that site to use it")
  }

  /// Returns the seed of a login; nil if it has none that this user can read.
  private func seed(of record: ItemRecord, _ report: () -> Void) -> SecretSlice? {
    do throws(KeyringError) {
      guard let field = try LoginFields(of: record, in: keyring.index)[FieldName.oneTimePassword] else {
        return nil
      }
      return try keyring.readableSecret(of: field, login: record)
    } catch {
      report()
      return nil
    }
  }
}

extension LoginName {
  /// Reads the name in a request; nil if no login can have it.
  ///
  /// - Throws: `notAPasswordFile` if the name is missing or does not end in `.gpg`.
  init?(requested file: [UInt8]?) throws(BrowserError) {
    guard let file, file.suffix(Self.ending.count).elementsEqual(Self.ending) else {
      throw BrowserError(.notAPasswordFile, "the name of a login ends in `.gpg`; reload the extension")
    }
    self.init(file: file)
  }
}

extension SentLogin.Obstacle {
  fileprivate var message: String {
    switch self {
    case .tooLarge: "the secret is larger than \(SentLogin.limit >> 10) KiB"
    case .blank: "the secret is empty or blank"
    case .severalLines: "the secret has several lines, which the extension cannot show"
    case .notText: "the secret is not UTF-8, which the extension cannot show"
    case .ambiguous: "the extension would change this secret: it looks like a field and ends with a space"
    }
  }
}
