internal import CommandSupport
internal import Keyring
internal import Sync

/// The git checks of `doctor`: the program, the repository, and files that a push may have added to it.
struct GitExamination {
  private let call: CommandCall

  init(_ call: CommandCall) { self.call = call }

  /// Returns the diagnoses, in order of dependence, and configures the repository as a clone needs it.
  ///
  /// - Parameter keyring: the store; nil if it cannot be opened.
  func diagnoses(of keyring: Keyring?) -> [Diagnosis] {
    do {
      let path = try call.storePath()
      var git = call.git(in: "/")
      git.isInWorkTree = false
      let repository = keyring == nil ? nil : try call.repository()
      guard let program = git.program else {
        guard repository == nil else { throw GitError.notInstalled }
        return [.note("git", "not installed, so stores have no history", advice: "`apt install git`")]
      }
      let version = try git.version()
      let own = Diagnosis.ok("git", "\(program), version \(version)")
      guard let repository else {
        guard keyring != nil else { return [own] }
        return [
          own,
          .note(
            "history", "the store \(path) has no git repository", advice: "`keytree git init` creates one"
          ),
        ]
      }
      return [own] + (try look(at: repository, AllowedFiles(beside: keyring?.policy)))
    } catch {
      return [.failed("git", ErrorReport(describing: error))]
    }
  }

  private func look(
    at repository: Repository, _ allowed: AllowedFiles
  ) throws -> [Diagnosis] {
    let branch = try repository.branch()
    let place = "in \(repository.top)"
    var list: [Diagnosis] = [
      .ok(
        "history",
        branch.map { "\(place), on the branch \($0)" } ?? "\(place), on no branch")
    ]
    if let operation = repository.operation {
      list.append(
        .note(
          "history", "a \(operation.rawValue) is in progress; nothing is committed until it ends",
          advice: ErrorReport(.inProgress(operation)).hint))
    }
    list.append(
      try call.setUp(repository)
        ? .ok("merging", "attributes and settings of the repository were missing and have been added")
        : .ok("merging", "attributes and settings of the repository are in place"))
    let others = try repository.otherStores()
    list += others.map { folder in
      let report = ErrorReport(SyncError.anotherStore(folder: folder))
      return .wrong("history", report.message ?? "", advice: report.hint)
    }
    let strangers = try repository.strangers(outside: allowed)
    list += strangers.map { stranger in
      let path = stranger.path
      return .wrong(
        "tracked", "\(path): \(stranger.reason.message)",
        advice: stranger.reason == .notAllowed
          ? "`keytree policy allow \(path)` allows it; "
            + "`keytree git rm --cached --sparse \(path)` and a commit remove it"
          : "`keytree git rm --cached --sparse \(path)` and a commit remove it")
    }
    return list
  }
}
