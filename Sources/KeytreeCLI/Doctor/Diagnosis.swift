internal import CommandSupport
internal import Encoding
internal import KeyringModel
internal import Terminal

/// The result of a check by `doctor`.
struct Diagnosis: Equatable {
  /// The outcome of a check.
  enum State: String {
    /// No problem was found.
    case ok
    /// Information that may be useful. It does not make the command fail.
    case note
    /// A problem that requires an action.
    case wrong
  }

  let state: State
  /// The subject of the check, one or two words.
  let subject: String
  /// The finding.
  let text: String
  /// The advice.
  let advice: String?

  static func ok(_ subject: String, _ text: String) -> Diagnosis {
    Diagnosis(state: .ok, subject: subject, text: text, advice: nil)
  }

  static func note(_ subject: String, _ text: String, advice: String? = nil) -> Diagnosis {
    Diagnosis(state: .note, subject: subject, text: text, advice: advice)
  }

  static func wrong(_ subject: String, _ text: String, advice: String?) -> Diagnosis {
    Diagnosis(state: .wrong, subject: subject, text: text, advice: advice)
  }

  /// Returns the diagnosis of an error, with the message and the hint that a failing command would print.
  static func failed(_ subject: String, _ report: ErrorReport, advice: String? = nil) -> Diagnosis {
    let pointsHere = report.hint?.contains(bytesOf: "keytree doctor") ?? false
    return .wrong(
      subject, report.message ?? "it failed", advice: advice ?? (pointsHere ? nil : report.hint))
  }

  /// The diagnosis as JSON.
  var json: JSONValue {
    var members = [
      JSONMember("state", .string(state.rawValue)), JSONMember("subject", .string(subject)),
      JSONMember("text", .string(text)),
    ]
    if let advice { members.append(JSONMember("advice", .string(advice))) }
    return .object(members)
  }

  /// Returns the diagnoses as lines of text: state, subject and finding, and the advice on the next line.
  static func lines(_ list: [Diagnosis]) -> [String] {
    let width = indentation(of: list)
    return list.flatMap { diagnosis -> [String] in
      let state = diagnosis.state.rawValue
      let indent = String(repeating: " ", count: stateWidth - state.count)
      let gap = String(repeating: " ", count: width - stateWidth - DisplayWidth.of(diagnosis.subject))
      let line = state + indent + diagnosis.subject + gap + diagnosis.text
      guard let advice = diagnosis.advice else { return [line] }
      return [line, String(repeating: " ", count: width) + "-> " + advice]
    }
  }

  /// The width of the column with the state.
  private static let stateWidth = 7

  /// Returns the column at which the texts of a list begin.
  static func indentation(of list: [Diagnosis]) -> Int {
    stateWidth + (list.map { DisplayWidth.of($0.subject) }.max() ?? 0) + 2
  }
}
