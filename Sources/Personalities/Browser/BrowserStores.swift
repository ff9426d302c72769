internal import BrowserHost
internal import CommandSupport
internal import Encoding
internal import FileSystem
internal import Glibc
internal import Keyring
internal import Terminal

/// The stores that the extension may use: the default store, and those in the setting `browser.stores`.
///
/// The user's settings in the extension may name any folder, so a path from there is only compared, never opened.
struct BrowserStores {
  private let call: CommandCall

  init(_ call: CommandCall) { self.call = call }

  /// Returns the data of an answer to `configure`: the location of the default store, and empty settings.
  ///
  /// - Throws: `defaultStoreInaccessible`, or `storeInaccessible` for a store in the settings of the extension.
  func configuration(for request: BrowserRequest) throws -> JSONValue {
    let path = try call.storePath()
    if request.stores.isEmpty { _ = try call.openKeyring() }
    for store in request.stores { try opening(store) { call in _ = try call.openKeyring() } }
    let settings = request.stores.map { JSONMember($0.id, .string("{}")) }
    return .object([
      JSONMember(
        "defaultStore",
        .object([
          JSONMember("path", .string(RealPath.of(path) ?? path)), JSONMember("settings", .string("{}")),
        ])),
      JSONMember("storeSettings", .object(settings)),
    ])
  }

  /// Returns the call for the store that a request names.
  ///
  /// - Throws: `unknownStore`, `storeInaccessible`.
  func store(of request: BrowserRequest) throws -> CommandCall {
    guard let store = request.stores.first(where: { $0.id == request.storeID }) else {
      throw BrowserError(
        .unknownStore, "the extension knows no such store; correct its settings",
        parameters: [("storeId", request.storeID)])
    }
    return try self.call(for: store)
  }

  /// Runs a closure with the call for a store.
  ///
  /// - Throws: `storeInaccessible` if keytree may not serve the store, or if it cannot be opened and is not the default
  ///   store; the errors of the closure.
  func opening<R>(_ store: BrowserRequest.Store, _ body: (CommandCall) throws -> R) throws -> R {
    let call = try self.call(for: store)
    do {
      return try body(call)
    } catch let error as KeyringError {
      guard call.globals != self.call.globals else { throw error }
      // Without GnuPG no store can be opened.
      if case .engine(.engineMissing, _) = error { throw error }
      let report = ErrorReport(describing: error)
      throw refusal(store, BrowserRefusal.message(report))
    }
  }

  private func call(for store: BrowserRequest.Store) throws -> CommandCall {
    let wanted = expanded(store.path)
    if isSame(try call.storePath(), wanted) { return call }
    let configuration = try call.configuration()
    for name in configuration.list(.browserStores) {
      let path = expanded(try call.environment.storePath(option: name) { configuration })
      // A path with a `/` is never the name of a store.
      if isSame(path, wanted) { return call.at(store: path.contains("/") ? path : "./" + path) }
    }
    throw refusal(
      store, "not a store that keytree may serve; `keytree config browser.stores` allows another one")
  }

  private func refusal(_ store: BrowserRequest.Store, _ message: String) -> BrowserError {
    BrowserError(
      .storeInaccessible, message,
      parameters: [("storeId", store.id), ("storePath", store.path), ("storeName", store.name)])
  }

  private func isSame(_ left: String, _ right: String) -> Bool {
    !right.isEmpty && (RealPath.of(left) ?? left) == (RealPath.of(right) ?? right)
  }

  private func expanded(_ path: String) -> String {
    guard path == "~" || path.hasPrefix("~/"), let home = call.environment.home else { return path }
    return home + path.dropFirst()
  }
}
