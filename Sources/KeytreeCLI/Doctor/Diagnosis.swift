internal import CommandSupport
internal import Encoding
internal import KeyringModel
internal import Terminal

/// One thing that `doctor` looked at, and how it is.
struct Diagnosis: Equatable {
  /// The results of an examination.
  enum State: String {
    /// As it should be.
    case ok
    /// Worth knowing; nothing needs to be done.
    case note
    /// Something has to be done.
    case wrong
  }

  let state: State
  /// The subject of the examination, one or two words.
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

  /// Something that failed, with the words and the hint that the failing command would have had.
  static func failed(_ subject: String, _ report: ErrorReport, advice: String? = nil) -> Diagnosis {
    let pointsHere = report.hint?.contains("keytree doctor") ?? false
    return .wrong(
      subject, report.message ?? "it failed", advice: advice ?? (pointsHere ? nil : report.hint))
  }

  /// The same for programs.
  var json: JSONValue {
    var members = [
      JSONMember("state", .string(state.rawValue)), JSONMember("subject", .string(subject)),
      JSONMember("text", .string(text)),
    ]
    if let advice { members.append(JSONMember("advice", .string(advice))) }
    return .object(members)
  }

  /// The lines for people: state, subject, finding, and below it what to do.
  static func lines(_ list: [Diagnosis]) -> [String] {
    let width = list.map { DisplayWidth.of($0.subject) }.max() ?? 0
    return list.flatMap { diagnosis -> [String] in
      let state = diagnosis.state.rawValue
      let indent = String(repeating: " ", count: 7 - state.count)
      let gap = String(repeating: " ", count: width - DisplayWidth.of(diagnosis.subject) + 2)
      let line = state + indent + diagnosis.subject + gap + diagnosis.text
      guard let advice = diagnosis.advice else { return [line] }
      return [line, String(repeating: " ", count: 9 + width) + "-> " + advice]
    }
  }
}
