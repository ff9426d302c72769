package import Arguments

/// The exit codes of the program. The numbers never change (DESIGN, section 11).
package enum ExitCode: Int32, CaseIterable, Sendable {
  case done = 0
  case failure = 1
  case usage = 2
  case cancelled = 3
  case notFound = 4
  case alreadyExists = 5
  case ambiguous = 6
  case cannotDecrypt = 7
  case damaged = 8
  case policyNotTrusted = 9
  case recipientUnusable = 10
  case gitFailed = 11
  case storeBusy = 12
  case failedChecks = 13
  case unfinished = 14

  /// The meaning of the number, for help texts and the manual.
  package var meaning: String {
    switch self {
    case .done: "success"
    case .failure: "any other error"
    case .usage: "invalid command line"
    case .cancelled: "cancelled, or a prompt was not possible"
    case .notFound: "not found"
    case .alreadyExists: "already exists"
    case .ambiguous: "several items match"
    case .cannotDecrypt: "no available key can decrypt the item"
    case .damaged: "damaged, or not signed by a member of the item's group"
    case .policyNotTrusted: "the policy of the store is not trusted"
    case .recipientUnusable: "a recipient's key cannot be used"
    case .gitFailed: "git failed; the change is stored"
    case .storeBusy: "the store is in use by another process"
    case .failedChecks: "checks failed, or rotations are pending"
    case .unfinished: "the change is stored, but finishing it failed"
    }
  }

  /// All codes, for the declaration of the program.
  package static var meanings: [ProgramDeclaration.ExitMeaning] {
    allCases.map { ProgramDeclaration.ExitMeaning($0.rawValue, $0.meaning) }
  }
}
