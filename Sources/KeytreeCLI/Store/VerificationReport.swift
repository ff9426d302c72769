internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Sync
internal import Terminal

/// The report of `verify`, as text or as JSON.
struct VerificationReport {
  private let result: Verification
  /// The branch that was verified, if there may be several.
  private let branch: String?

  /// The largest number of findings shown for a push.
  private static let limit = 50

  init(_ result: Verification, branch: String?) {
    (self.result, self.branch) = (result, branch)
  }

  /// Prints each finding and each warning.
  func print(to call: CommandCall) {
    let console = call.console
    if call.globals.json {
      for finding in result.findings { console.print(json: json(finding, isWarning: false)) }
      for warning in result.warnings { console.print(json: json(warning, isWarning: true)) }
      console.print(json: summary)
      return
    }
    let place = branch.map { "\(Self.shortName($0)): " } ?? ""
    let shown = branch == nil ? result.findings[...] : result.findings.prefix(Self.limit)
    for finding in shown { console.print(wrapping: place + finding.line) }
    let rest = result.findings.count - shown.count
    if rest > 0 { console.print("\(place)and \(rest) more") }
    for warning in result.warnings { console.print(wrapping: "\(place)warning: \(warning.line)") }
  }

  /// Reports the extent and the result of the verification.
  ///
  /// - Parameter isAnchored: true if the beginning of the policy chain is known.
  func say(to call: CommandCall, isAnchored: Bool) {
    let count = result.findings.count
    let warnings = result.warnings.count
    let end =
      count > 0
      ? "\(count) \(count == 1 ? "finding" : "findings")"
      : warnings > 0 ? "\(warnings) \(warnings == 1 ? "warning" : "warnings")" : "nothing is wrong"
    let place = branch.map { "\(Self.shortName($0)): " } ?? ""
    // For a branch that loses commits, nothing else was verified.
    if result.policies > 0 || result.findings.isEmpty { call.console.say("\(place)\(looked), \(end).") }
    if branch != nil, count > 0 {
      call.console.complain("keytree: \(place)the push is refused; nothing was changed")
    }
    if result.leftBehind > 0, !result.isDistrusted {
      let some = result.leftBehind == 1 ? "1 policy was" : "\(result.leftBehind) policies were"
      call.console.say("note: \(some) created concurrently with another one, and dropped by a merge.")
    }
    if result.isCutOff {
      call.console.say(
        "note: the history does not go back to the first policy; `git fetch --unshallow` fetches the rest.")
    }
    if !isAnchored, !result.isPinned, !result.isDistrusted {
      call.console.say(
        "note: the expected admin is not known, so only the consistency of the policies was checked; give the "
          + "admin who signed the first policy with `--fingerprint FPR`.")
    }
  }

  /// Returns the exit code of the command.
  func exitCode(isStrict: Bool) -> ExitCode {
    if result.isDistrusted { return .policyNotTrusted }
    if !result.findings.isEmpty { return .failedChecks }
    return isStrict && !result.warnings.isEmpty ? .failedChecks : .done
  }

  private var looked: String {
    let items = result.items == 1 ? "1 item" : "\(result.items) items"
    let policies = result.policies == 1 ? "1 policy" : "\(result.policies) policies"
    let first = result.firstSigner.map { ", the first one signed by \($0.text)" } ?? ""
    return "\(items), \(policies)\(first)\(result.isPinned ? ", accepted on this machine" : "")"
  }

  private static func shortName(_ branch: String) -> String {
    let prefix = "refs/heads/"
    return branch.hasPrefix(prefix) ? String(branch.dropFirst(prefix.count)) : branch
  }

  private func json(_ finding: Finding, isWarning: Bool) -> JSONValue {
    .object(finding.members + [JSONMember("warning", .bool(isWarning))] + branchMember)
  }

  private var branchMember: [JSONMember] { branch.map { [JSONMember("branch", .string($0))] } ?? [] }

  private var summary: JSONValue {
    .object(
      [
        JSONMember("accepted", .bool(result.isPinned)),
        JSONMember("findings", .integer(Int64(result.findings.count))),
        JSONMember("firstSigner", result.firstSigner.map { .string($0.text) } ?? .null),
        JSONMember("items", .integer(Int64(result.items))),
        JSONMember("leftBehind", .integer(Int64(result.leftBehind))),
        JSONMember("policies", .integer(Int64(result.policies))),
        JSONMember("trusted", .bool(!result.isDistrusted)),
        JSONMember("warnings", .integer(Int64(result.warnings.count))),
      ] + branchMember)
  }
}
