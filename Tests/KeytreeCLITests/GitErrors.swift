import Keyring
import Subprocess
import Sync

@testable import KeytreeCLI

/// Every error that git can cause, with texts that would do harm on a terminal.
enum GitErrors {
  private static let evil = ErrorReportTests.evil

  static var all: [(Failure, ExitCode)] {
    (errors + operations).flatMap { [(.git($0), .gitFailed), (.notCommitted(.git($0)), .gitFailed)] }
      + [(.notCommitted(.keyring(.busy(holder: nil))), .gitFailed)] + synchronizing
  }

  private static let errors: [GitError] = [
    .notInstalled, .tooOld(version: evil), .process(.notFound(program: evil)),
    .process(.notExecutable(program: evil, errno: 13)), .process(.containsNUL(program: evil)),
    .process(.tooMuchOutput(program: evil, stream: .output, limit: 1)),
    .process(.systemCall(action: "start", path: evil, errno: 12)),
    .failed(command: evil, status: 1, message: ""), .failed(command: evil, status: 128, message: evil),
    .failed(command: "var", status: 128, message: "Please tell me who you are."),
    .killed(command: evil, signal: 9), .timedOut(command: evil), .unexpectedOutput(command: evil),
    .unsafeOwner(path: evil), .unsafeConfiguration(keys: [evil, evil]), .locked(path: evil),
    .specialFiles(paths: [evil, evil]),
    .notARepository(path: evil), .noRepository(store: evil), .detached,
  ]

  private static let synchronizing: [(Failure, ExitCode)] = [
    (.sync(.git(.detached)), .gitFailed), (.sync(.git(.unmerged(paths: [evil, "b"]))), .gitFailed),
    (.git(.unmerged(paths: [evil])), .gitFailed), (.sync(.keyring(.busy(holder: 1))), .storeBusy),
    (.sync(.unsafePath(evil)), .damaged), (.sync(.bothChanged([evil])), .gitFailed),
    (.sync(.policiesDiverged), .gitFailed),
    (.sync(.uncommitted(Array(repeating: evil, count: 7))), .gitFailed),
    (.sync(.noRemote(among: [])), .gitFailed),
    (.sync(.noRemote(among: [evil, "b"])), .gitFailed),
    (.sync(.noStoreInClone(url: evil)), .notFound), (.sync(.noCommit), .gitFailed),
    (.sync(.rewritten(seen: evil, now: evil)), .gitFailed),
    (.sync(.rewritten(seen: evil, now: nil)), .gitFailed), (.sync(.foreignPolicy), .policyNotTrusted),
    (.sync(.tooBusy(attempts: 3)), .gitFailed), (.sync(.anotherStore(folder: evil)), .gitFailed),
    (.sync(.anotherStore(folder: "")), .gitFailed), (.sync(.policyHistoryTooLarge(limit: 1)), .damaged),
    (.sync(.indexRefused(file: evil, .full(limit: 1))), .damaged),
    (.sync(.indexRefused(file: evil, .damaged)), .damaged),
    (.sync(.indexRefused(file: evil, .line(.empty))), .damaged),
  ]

  private static let operations = RepositoryOperation.allCases.map { GitError.inProgress($0) }
}
