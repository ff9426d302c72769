/// The reason why a request of the extension was not answered as it wanted.
///
/// Neither text ever contains a part of a secret.
package struct BrowserError: Error, Equatable {
  /// The codes of browserpass-native (`errors/errors.go`). The process also exits with this number.
  package enum Code: Int32, CaseIterable, Sendable {
    case lengthUnreadable = 10
    case requestUnreadable = 11
    case unknownAction = 12
    case storeInaccessible = 13
    case defaultStoreInaccessible = 14
    case defaultStoreUnknown = 15
    case listFailed = 18
    case unknownStore = 20
    case gnupgMissing = 22
    case notAPasswordFile = 23
    case cannotDecrypt = 24
    case treeFailed = 25
    case noContents = 27
    case cannotWrite = 29
    case cannotDelete = 30
  }

  /// The code.
  package let code: Code
  /// A sentence for the user that says what to do.
  package let message: String
  /// The detail for somebody who looks for the cause; the same sentence if there is none.
  package let detail: String
  /// The subject of the error: names such as `storeId` and their values.
  package private(set) var parameters: [(name: String, value: String)]

  /// Creates an error.
  package init(
    _ code: Code, _ message: String, detail: String? = nil, parameters: [(name: String, value: String)] = []
  ) {
    self.code = code
    self.message = message
    self.detail = detail ?? message
    self.parameters = parameters
  }

  /// The advice for a name that the extension knows from an old list.
  static let reload = "reload the list of the extension"

  /// Returns the error for a name that logins of several groups would have.
  ///
  /// - Parameter code: The code of the action.
  static func contested(_ code: Code) -> BrowserError {
    BrowserError(
      code, "logins of several groups have this name; choose one with a number in the list of the extension")
  }

  /// Returns the error with the login that a request names, as in browserpass-native.
  package func about(_ request: BrowserRequest) -> BrowserError {
    var error = self
    let file = ("file", String(decoding: request.file ?? [], as: UTF8.self))
    switch code {
    case .notAPasswordFile: error.parameters = [file]
    case .gnupgMissing, .cannotDecrypt, .noContents, .cannotWrite, .cannotDelete:
      let store = request.stores.first { $0.id == request.storeID }
      error.parameters = [
        file, ("storeId", request.storeID), ("storeName", store?.name ?? ""),
        ("storePath", store?.path ?? ""),
      ]
    case .lengthUnreadable, .requestUnreadable, .unknownAction, .storeInaccessible, .defaultStoreInaccessible,
      .defaultStoreUnknown, .listFailed, .unknownStore, .treeFailed:
      break
    }
    return error
  }

  /// Returns true if both errors have the same code, texts and parameters.
  package static func == (left: BrowserError, right: BrowserError) -> Bool {
    left.code == right.code && left.message == right.message && left.detail == right.detail
      && left.parameters.elementsEqual(right.parameters) { $0 == $1 }
  }
}
