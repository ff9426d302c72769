package import Arguments
package import BrowserHost
package import CommandSupport
internal import Encoding
internal import Keyring
internal import Secrets
internal import Terminal

/// The native-messaging host of the extension browserpass. A browser starts it for each request.
///
/// Standard output contains nothing but the answer. Diagnostics go to standard error, which the browser shows in its own
/// log or nowhere.
package struct BrowserHostProgram {
  private let call: CommandCall

  /// Creates the host.
  ///
  /// - Parameter call: the environment and the console.
  package init(_ call: CommandCall) { self.call = call }

  /// Answers one request.
  ///
  /// - Parameter words: the arguments of the browser, which name the extension that calls.
  /// - Returns: 0, also if the browser has closed the pipe before it sent anything; else the code of the error.
  package func status(of words: [Word]) -> Int32 {
    var action = ""
    do {
      let origins = try call.configuration().list(.browserOrigins)
      guard BrowserCaller.isAllowed(words.map(\.bytes), more: origins) else {
        throw BrowserError(
          .unknownAction,
          "this extension may not use keytree; `keytree help browser-host` explains how to allow it (`--allow`)"
        )
      }
      guard let message = try message() else { return 0 }
      let request = try BrowserRequest(message)
      action = request.action
      do {
        return write(try answer(request), action)
      } catch {
        let refusal = BrowserRefusal.error(for: error, BrowserAction(rawValue: action))
        return write(BrowserAnswer(refusal.about(request), action: action), action)
      }
    } catch {
      return write(
        BrowserAnswer(BrowserRefusal.error(for: error, BrowserAction(rawValue: action)), action: action),
        action)
    }
  }

  // MARK: Frames

  /// Returns the message of the first frame; nil if there is none.
  ///
  /// - Throws: `lengthUnreadable`, `requestUnreadable`.
  private func message() throws -> SecretBytes? {
    // A browser may keep the pipe open before it writes. Once it has begun, the rest must follow.
    let first = try call.console.readBytes(count: 1, within: nil)
    if first.isEmpty { return nil }
    var header = first.copy()
    do {
      header.append(
        try call.console.readBytes(count: NativeFrame.headerSize - 1, within: NativeFrame.patience))
    } catch {
      throw Self.unreadable(.lengthUnreadable, "its length did not arrive in time")
    }
    guard let length = NativeFrame.length(header) else {
      throw Self.unreadable(.lengthUnreadable, "its length is truncated")
    }
    guard length <= NativeFrame.requestLimit else {
      throw Self.unreadable(.requestUnreadable, "it is larger than \(NativeFrame.requestLimit) bytes")
    }
    let message: SecretBytes
    do {
      message = try call.console.readBytes(count: length, within: NativeFrame.patience)
    } catch {
      throw Self.unreadable(.requestUnreadable, "it did not arrive in time")
    }
    guard message.count == length else { throw Self.unreadable(.requestUnreadable, "it is truncated") }
    return message
  }

  private static func unreadable(_ code: BrowserError.Code, _ detail: String) -> BrowserError {
    BrowserError(code, "cannot read the request of the browser; reload the extension", detail: detail)
  }

  private func write(_ answer: borrowing BrowserAnswer, _ action: String) -> Int32 {
    guard answer.message.count <= NativeFrame.answerLimit else {
      let error = BrowserError(
        BrowserAction(rawValue: action)?.failureCode ?? .listFailed,
        "the answer is larger than a browser accepts; `keytree find` lists all logins")
      return write(BrowserAnswer(error, action: action), action)
    }
    call.console.writeExactly(NativeFrame.frame(answer.message))
    do {
      try call.console.finish()
      return answer.status
    } catch {
      // The browser has gone, and nobody can be told.
      return ExitCode.failure.rawValue
    }
  }

  // MARK: Actions

  private func answer(_ request: BrowserRequest) throws -> BrowserAnswer {
    guard let action = BrowserAction(rawValue: request.action) else {
      throw BrowserError(.unknownAction, "keytree does not know what the extension asks for; update keytree")
    }
    let settings = try call.browserSettings()
    let stores = BrowserStores(call)
    switch action {
    case .echo: return try BrowserAnswer(echo: request.echo)
    case .configure: return BrowserAnswer(try stores.configuration(for: request))
    case .list:
      return BrowserAnswer(
        LoginListing.data("files", try listings(request, stores, settings).map { ($0, $1.files) }))
    case .tree:
      let lists = try listings(request, stores, settings).map { ($0, $1.folders) }
      return BrowserAnswer(LoginListing.data("directories", lists))
    case .fetch: return try fetch(request, try stores.store(of: request), settings)
    case .save:
      let store = try stores.store(of: request)
      try store.changingForBrowser { keyring in try LoginSave(keyring, settings).save(request) }
      return BrowserAnswer(.object([]))
    case .delete:
      let store = try stores.store(of: request)
      try store.changingForBrowser { keyring in
        try LoginRemoval(keyring, settings).remove(request)
        return true
      }
      return BrowserAnswer(.object([]))
    }
  }

  private func listings(
    _ request: BrowserRequest, _ stores: BrowserStores, _ settings: BrowserSettings
  ) throws -> [(id: String, listing: LoginListing)] {
    let failure: BrowserError.Code = BrowserAction(rawValue: request.action)?.failureCode ?? .listFailed
    // All stores share one answer.
    let limit = LoginListing.limit / max(request.stores.count, 1)
    return try request.stores.map { store in
      let found = try stores.opening(store) { call in try LoginSearch(try call.openIndex(), settings).all() }
      call.tell(found.problems)
      if found.isIndexLost {
        throw BrowserError(failure, "the store has lost its index; run `keytree check --repair`")
      }
      let listing = LoginListing(found.names, limit: limit)
      if listing.omitted > 0 {
        call.console.complain(
          "keytree: warning: \(listing.omitted) logins do not fit into the list for the browser; the oldest are missing"
        )
      }
      explain(request.action, found.statistics, count: listing.files.count)
      return (store.id, listing)
    }
  }

  private func fetch(
    _ request: BrowserRequest, _ store: CommandCall, _ settings: BrowserSettings
  ) throws -> BrowserAnswer {
    let keyring = try store.openKeyring()
    keyring.warmUp()
    // A keyring can be opened only if the folder for its engine is known.
    let limit = FetchLimit(base: call.environment.runtimeBase ?? "", perMinute: settings.fetchesPerMinute)
    let contents = try LoginFetch(keyring, settings, limit: limit)
      .contents(of: request, now: call.environment.clock()) {
        // The error names the login, and the browser may keep its log.
        call.console.complain("keytree: warning: the seed of one-time passwords of a login cannot be read")
      }
    call.explain(keyring.engineStatistics)
    return BrowserAnswer(contents: contents)
  }

  /// Reports the cost, without any name, if `--explain` was given.
  private func explain(_ action: String, _ statistics: SearchStatistics, count: Int) {
    guard call.globals.explain else { return }
    call.console.complain("explain: logins for the browser: \(count)")
    call.explain(statistics)
  }
}

extension CommandCall {
  /// Returns the user's settings for browsers.
  ///
  /// - Throws: the errors of `configuration()`.
  package func browserSettings() throws -> BrowserSettings {
    let configuration = try configuration()
    var settings = BrowserSettings()
    settings.protocols.formUnion(configuration.list(.browserProtocols).map { $0.lowercased() })
    settings.fetchesPerMinute = configuration.number(.browserFetchesPerMinute) ?? settings.fetchesPerMinute
    settings.restrictsToSite = configuration.flag(.browserRestrictToSite)
    settings.storesGeneric = configuration.flag(.browserGeneric)
    return settings
  }

  /// Changes the store for the extension. If git cannot commit the change, it is stored nevertheless, so the extension
  /// gets no error, and the next command commits it.
  fileprivate func changingForBrowser(_ body: (Keyring) throws -> Bool) throws {
    do {
      try changing(body)
    } catch let error as NotCommittedError {
      for line in ErrorReport(describing: error).lines { console.complain(line) }
    }
  }
}
