package import Keyring
internal import Subprocess
internal import Sync
internal import Terminal

/// Methods for programs that run for a long time and open the store again when its policy changes.
extension CommandCall {
  /// Returns a function that opens the keyring, on any thread, with an index that is kept in memory.
  ///
  /// - Parameter report: Called with the error if the policies in the history cannot be read, although the store is not
  ///   trusted without them. Items can be read then, but not changed.
  /// - Throws: `storeLocationUnknown`.
  package func keyringOpener(
    report: @escaping @Sendable (any Error) -> Void
  ) throws -> @Sendable () throws -> Keyring {
    let path = try storePath()
    var host = try host()
    host.keepsIndex = true
    let environment = environment
    return { [host] in
      var past = HistoricalPolicies([])
      let keyring = try Keyring.open(in: try StoreFolder.open(path), host: host) {
        past = HistoricalPolicies(in: {
          try Repository.find(store: path) { Git(in: $0, environment) }
        })
        return past
      }
      if keyring.distrust != nil, let problem = past.problem { report(problem) }
      return keyring
    }
  }

  /// Returns a function that commits the pending changes of the store, on any thread; nil if the store does not use git.
  ///
  /// - Throws: The errors of `Repository.find`; `KeyringError` if the store cannot be opened.
  package func historyWriter() throws -> (@Sendable () throws -> Void)? {
    guard let repository = try repository() else { return nil }
    let (folder, host) = (try store.folder(), try host())
    return {
      let committer = Committer(repository: repository, tree: folder, timeout: host.lockTimeout) {
        Keyring.ownName(in: folder, host: host)
      }
      do {
        _ = try committer.commitPending()
      } catch {
        throw NotCommittedError(error)
      }
    }
  }
}

extension HistoricalPolicies {
  /// Reads the policies in the history of a store; there are none if it does not use git. If git cannot read them, the set
  /// has the problem.
  ///
  /// - Parameter repository: Returns the repository; nil if the store does not use git.
  init(in repository: () throws -> Repository?) {
    do {
      guard let repository = try repository() else {
        self.init([])
        return
      }
      self = try PolicyHistoryReader(in: repository).steps(branch: try repository.git.commit("HEAD"))
    } catch {
      self.init(unreadable: error)
    }
  }
}
