import Keyring
import Testing
@testable import CommandSupport
@testable import KeytreeCLI
@testable import Personalities

@Suite("The status of security", .serialized)
struct SecurityStatusTests {
  @Test(
    "the exit status is the lowest eight bits of Apple's status",
    arguments: [
      (.success, 0), (.failure, 1), (.usage, 2), (.itemNotFound, 44), (.duplicateItem, 45),
      (.authenticationFailed, 51), (.noSuchKeychain, 50), (.interactionNotAllowed, 36), (.userCancelled, 128),
      (.parameter, 206), (.readOnly, 52), (.notAvailable, 53), (.decode, 93), (.missingEntitlement, 30),
    ] as [(SecurityStatus, Int32)])
  func numbers(status: SecurityStatus, exit: Int32) {
    #expect(status.exitStatus == exit)
  }

  @Test(
    "an error never has the status of success, and its lines contain no control characters",
    arguments: ErrorReportTests.failures.map(\.0) + KeyringErrors.all.map(\.0))
  func failures(failure: any ReportableError) {
    let report = SecurityFailure(failure, at: "SecKeychainOpen")
    #expect(report.status.exitStatus != 0)
    #expect(!report.lines.isEmpty)
    for line in report.lines {
      #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E && $0.value != 0x7F })
    }
  }
}
