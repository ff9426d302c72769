import Keyring
import KeyringModel
import OpenPGP
import Sync
import Terminal
import TestSupport
import Testing
@testable import CommandSupport
@testable import KeytreeCLI

@Suite("Reports of verify", .serialized) struct VerificationReportTests {
  private static let stray = Finding("x", .stray(.name))
  private static let chain = Finding("policy.json", .chain(.unsigned), commit: "0123456789abcdef")
  private static let soon = Finding(
    "keys/x.asc", .keyEnds(EngineDouble.fingerprint(1), Timestamp(microseconds: 0)))

  /// Findings, warnings, a Boolean value that indicates whether warnings count, and the exit code.
  static let endings: [([Finding], [Finding], Bool, ExitCode)] = [
    ([], [], true, .done), ([], [soon], false, .done), ([], [soon], true, .failedChecks),
    ([stray], [], false, .failedChecks), ([stray, chain], [soon], true, .policyNotTrusted),
    ([Finding("policy.json", .policy(.unsigned))], [], false, .policyNotTrusted),
    ([Finding("refs/heads/main", .branch(.deleted))], [], false, .failedChecks),
  ]

  @Test("the findings determine the exit code", arguments: endings)
  func ends(_ findings: [Finding], _ warnings: [Finding], _ isStrict: Bool, _ code: ExitCode) {
    var result = Verification(findings)
    result.warnings = warnings
    #expect(VerificationReport(result, branch: nil).exitCode(isStrict: isStrict) == code)
  }

  private static let problems: [ChainProblem] = [
    .missing, .unreadable(.noAdmin), .foreign, .unsigned, .badSignature,
    .signedByMember(EngineDouble.fingerprint(1)), .signedByRemoved(EngineDouble.fingerprint(1)),
    .signedByRevoked(EngineDouble.fingerprint(1)),
    .signedByExpired(EngineDouble.fingerprint(1), Timestamp(microseconds: 0)), .signedByStranger(nil),
    .signedByStranger(EngineDouble.fingerprint(1)), .signerUnknown([EngineDouble.fingerprint(1)]),
    .keyExchanged(EngineDouble.fingerprint(1)),
    .foreignSubkey(
      ForeignSubkey(
        person: EngineDouble.fingerprint(1), owner: EngineDouble.fingerprint(2),
        subkey: EngineDouble.fingerprint(3))),
    .unusableKeyFile(EngineDouble.fingerprint(1), .tooManyParts(limit: 64)),
    .unusableKeyFile(EngineDouble.fingerprint(1), .tooManySignatures(limit: 1024)),
    .unusableKeyFile(EngineDouble.fingerprint(1), .tooManyBits),
    .older(generation: 1, before: 2), .forked(generation: 2),
    .badMergeChoice(generation: 2), .skipped(generation: 3, before: 1), .notNext(generation: 2),
    .incompleteHistory(generation: 2),
    .unexpectedSigner(EngineDouble.fingerprint(1)), .notPinned(generation: 1, pinned: 2),
    .notPinned(generation: 2, pinned: 1), .pinUnreadable,
  ]

  @Test func `each problem has a distinct message, and a line names the commit`() {
    let words = Self.problems.map(\.message)
    #expect(Set(words).count == words.count)
    #expect(
      Self.chain.line
        == "policy.json in commit 0123456789ab: the policy is not trusted: it has no signature")
  }

  @Test func `text from a store is escaped`() {
    let evil = Finding("e\u{1B}]0;x\u{7}\u{202E}", .stray(.link), commit: "\u{1B}[2J")
    let memory = MemoryConsole(isTerminal: true)
    memory.console.print(evil.line)
    memory.console.flush()
    #expect(memory.output.text.hasPrefix(#"e\x1b]0;x\x07\u{202e} in commit \x1b[2J: "#))
  }
}
