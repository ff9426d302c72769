import Keyring
import Subprocess
import Sync
@testable import CommandSupport
@testable import KeytreeCLI

/// Every error of git, with texts that would do harm if they were written to a terminal unescaped.
enum GitErrors {
  private static let evil = ErrorReportTests.evil

  static var all: [(any ReportableError, ExitCode)] {
    (errors + operations).flatMap { [($0, .gitFailed), (NotCommittedError($0), .gitFailed)] }
      + [(NotCommittedError(KeyringError.busy(holder: nil)), .gitFailed)] + synchronizing
  }

  private static let errors: [GitError] = [
    .notInstalled, .tooOld(version: evil), .process(.notFound(program: evil)),
    .process(.notExecutable(program: evil, errno: 13)), .process(.containsNUL(program: evil)),
    .process(.tooMuchOutput(program: evil, stream: .output, limit: 1)),
    .process(.systemCall(action: "start", path: evil, errno: 12)),
    .failed(command: evil, status: 1, message: ""), .failed(command: evil, status: 128, message: evil),
    .failed(command: "var", status: 128, message: "Please tell me who you are."),
    .killed(command: evil, signal: 9), .timedOut(command: evil), .unexpectedOutput(command: evil),
    .unsafeOwner(path: evil), .unsafeConfiguration(keys: [evil, evil]), .unsafeFiles(paths: [evil, evil]),
    .unsafeFiles(paths: [".git"]),
    .unsafeOperation(.rebase, path: evil),
    .locked(path: evil),
    .specialFiles(paths: [evil, evil]), .unsafeRemote(path: evil, entries: [evil, evil]),
    .unsupportedTransport(name: evil, remote: evil), .unsupportedAddress(setting: evil),
    .notARepository(path: evil), .noRepository(store: evil), .detached,
  ]

  private static let synchronizing: [(any ReportableError, ExitCode)] = [
    (GitError.unmerged(paths: [evil, "b"]), .gitFailed), (GitError.unmerged(paths: [evil]), .gitFailed),
    (SyncError.tooManyFiles(commit: evil, folder: evil), .damaged),
    (SyncError.commitTooLarge(commit: evil, size: 2, limit: 1), .damaged),
    (SyncError.tooManyFiles(commit: evil, folder: ""), .damaged), (SyncError.unsafePath(evil), .damaged),
    (SyncError.bothChanged([evil]), .gitFailed),
    (SyncError.policiesDiverged, .gitFailed),
    (SyncError.untrustedPolicy(.badSignature, commit: evil), .policyNotTrusted),
    (SyncError.untrustedPolicy(.restored(generation: 1, newer: 2), commit: evil), .policyNotTrusted),
    (SyncError.cannotReapply(.badSignature), .policyNotTrusted),
    (SyncError.uncommitted(Array(repeating: evil, count: 7)), .gitFailed),
    (SyncError.severalBranches(url: evil, [evil, "b"], hasDefault: false), .ambiguous),
    (SyncError.severalBranches(url: evil, [evil, "b"], hasDefault: true), .ambiguous),
    (SyncError.emptyRepository(url: evil), .notFound),
    (SyncError.noBranch(url: evil, name: evil, among: [evil]), .notFound),
    (SyncError.noBranch(url: evil, name: evil, among: []), .notFound),
    (SyncError.noRemote(branch: evil, among: []), .gitFailed),
    (SyncError.noRemote(branch: evil, among: [evil, "b"]), .gitFailed),
    (SyncError.noStoreInClone(url: evil), .notFound), (SyncError.noCommit, .gitFailed),
    (SyncError.rewritten(seen: evil, now: evil), .gitFailed),
    (SyncError.rewritten(seen: evil, now: nil), .gitFailed), (SyncError.foreignPolicy, .policyNotTrusted),
    (SyncError.tooBusy(attempts: 3), .gitFailed), (SyncError.anotherStore(folder: evil), .gitFailed),
    (SyncError.anotherStore(folder: ""), .gitFailed), (SyncError.policyHistoryTooLarge(limit: 1), .damaged),
    (SyncError.indexRefused(file: evil, .full(limit: 1)), .damaged),
    (SyncError.indexRefused(file: evil, .damaged), .damaged),
    (SyncError.indexRefused(file: evil, .line(.empty)), .damaged),
  ]

  private static let operations = RepositoryOperation.allCases.map { GitError.inProgress($0) }
}
