/// The actions that the extension asks for.
package enum BrowserAction: String, CaseIterable, Sendable {
  /// Returns the location and the settings of the stores.
  case configure
  /// Returns the names of all logins.
  case list
  /// Returns the folders in which the names are.
  case tree
  /// Returns the content of one login.
  case fetch
  /// Stores a login.
  case save
  /// Removes a login.
  case delete
  /// Returns a value of the request.
  case echo

  /// The code of a failure that has none of its own.
  package var failureCode: BrowserError.Code {
    switch self {
    case .configure: .defaultStoreInaccessible
    case .list: .listFailed
    case .tree: .treeFailed
    case .fetch: .cannotDecrypt
    case .save: .cannotWrite
    case .delete: .cannotDelete
    case .echo: .requestUnreadable
    }
  }
}
