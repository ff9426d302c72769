internal import Sync

/// The git part of `doctor`: the program, the repository, and what a push may have brought into it.
struct GitExamination {
  private let call: CommandCall

  init(_ call: CommandCall) { self.call = call }

  /// Everything that was found, in the order of dependence; what a clone needs is put in place on the way.
  ///
  /// - Parameter hasStore: Whether there is a store that can be opened.
  func diagnoses(hasStore: Bool) -> [Diagnosis] {
    do throws(Failure) {
      let path = try call.storePath()
      var git = call.git(in: "/")
      git.isInWorkTree = false
      let repository = hasStore ? try call.repository() : nil
      guard let program = git.program else {
        guard repository == nil else { throw .git(.notInstalled) }
        return [.note("git", "it is not installed, so no store has a history", advice: "`apt install git`")]
      }
      let version = try call.gitCall { [git] () throws(GitError) in try git.version() }
      let own = Diagnosis.ok("git", "\(ErrorReport.show(program)), version \(ErrorReport.show(version))")
      guard let repository else {
        guard hasStore else { return [own] }
        return [
          own,
          .note(
            "history", "the store \(ErrorReport.show(path)) has none", advice: "`keytree git init` begins one"
          ),
        ]
      }
      return [own] + (try look(at: repository))
    } catch {
      return [.failed("git", ErrorReport(error))]
    }
  }

  private func look(at repository: Repository) throws(Failure) -> [Diagnosis] {
    let branch = try call.gitCall { () throws(GitError) in try repository.branch() }
    let place = "in \(ErrorReport.show(repository.top))"
    var list: [Diagnosis] = [
      .ok(
        "history",
        branch.map { "\(place), on the branch \(ErrorReport.show($0))" } ?? "\(place), on no branch")
    ]
    if let operation = repository.operation {
      list.append(
        .note(
          "history", "a \(operation.rawValue) is in progress; nothing is committed before it ends",
          advice: ErrorReport(.inProgress(operation)).hint))
    }
    list.append(
      try call.setUp(repository)
        ? .ok("merging", "attributes and settings of the repository were missing, and are in place now")
        : .ok("merging", "attributes and settings of the repository are in place"))
    let strangers = try call.gitCall { () throws(GitError) in try repository.strangers() }
    list += strangers.map { stranger in
      let path = ErrorReport.show(stranger.path)
      return .wrong(
        "tracked", "\(path): \(stranger.words)",
        advice: "`keytree git rm --cached \(path)` takes it out of the history")
    }
    return list
  }
}

extension TrackedStranger {
  fileprivate var words: String {
    switch kind {
    case .link: "a link, which is never followed"
    case .repository: "another repository within the store"
    case .executable: "a file that can be run"
    case .attributes: "attributes of git, which have no effect here and may elsewhere"
    case .modules: "a list of other repositories to fetch"
    }
  }
}
