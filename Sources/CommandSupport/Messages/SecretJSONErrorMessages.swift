internal import Encoding
internal import Secrets

extension SecretJSONError {
  /// The description of the problem.
  package var words: String {
    switch self {
    case .empty: "it is empty"
    case .truncated: "it is JSON that breaks off"
    case .unexpected(let line): "line \(line) is no JSON"
    case .notUnicode(let line): "line \(line) is not UTF-8, or holds half of a surrogate pair"
    case .duplicateName(let line): "an object in line \(line) has two members of one name"
    case .tooDeep(let line): "too many values inside each other in line \(line)"
    case .tooMany(let limit): "it has more than \(limit) values"
    }
  }
}
