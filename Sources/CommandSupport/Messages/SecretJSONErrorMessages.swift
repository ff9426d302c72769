internal import Encoding
internal import Secrets

extension SecretJSONError {
  /// The description of the problem.
  package var message: String {
    switch self {
    case .empty: "it is empty"
    case .truncated: "its JSON is truncated"
    case .unexpected(let line): "line \(line) is not valid JSON"
    case .notUnicode(let line): "line \(line) is not UTF-8, or contains half of a surrogate pair"
    case .duplicateName(let line): "an object in line \(line) has two members with the same name"
    case .tooDeep(let line): "the values in line \(line) are nested too deeply"
    case .tooMany(let limit): "it has more than \(limit) values"
    }
  }
}
