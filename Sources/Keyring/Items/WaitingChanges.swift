/// The changes of threads that wait for each other, so that the next thread commits all of them in one transaction.
///
/// A thread queues its change and waits until another thread has committed it, or until it has the turn. Then it makes
/// all changes that are in the queue. The thread that has the turn keeps no change after it, so a change never outlives
/// the call that made it. A thread whose change was committed does not wait for another turn: it can prepare its next
/// change while the next turn commits the others.
final class WaitingChanges: Sendable {
  /// The change of one thread.
  final class Change: @unchecked Sendable {
    // Unchecked, because after a change is queued, only the thread that has the turn uses it. The others see the
    // outcome once it no longer waits.
    fileprivate var body: ((inout WriteTransaction) throws(KeyringError) -> Void)?
    /// True until a thread has tried to make the change. Protected by the monitor.
    fileprivate var isWaiting = true
    fileprivate(set) var outcome = Outcome.alone

    init(_ body: @escaping (inout WriteTransaction) throws(KeyringError) -> Void) { self.body = body }
  }

  /// The result of a change that was tried together with others.
  enum Outcome: Equatable {
    /// It was committed.
    case committed
    /// The transaction failed while it was written to the disk.
    case failed(KeyringError)
    /// It has to be made alone, which reports its error if it cannot be made.
    case alone
  }

  private struct State {
    /// The changes that no thread has begun to make.
    var queue: [Change] = []
    /// True while a thread has the turn.
    var isTaken = false

    /// Removes and returns all changes of the queue.
    mutating func takeAll() -> [Change] {
      defer { queue = [] }
      return queue
    }
  }

  /// The work of a thread after it has waited.
  private enum Turn {
    /// It has the turn, and makes the changes of all threads that wait. There may be none: then it makes its own change
    /// alone.
    case own([Change])
    /// Another thread has made its change.
    case made
  }

  private let state = Monitor(State())

  /// The number of changes that no thread has begun to make.
  var count: Int { state.wait { $0.queue.count } }

  /// Queues a change and waits until it was made, or for this thread's turn.
  ///
  /// - Parameters:
  ///   - body: The change. It may be made by another thread while this one waits.
  ///   - commit: Makes several changes and sets their outcomes.
  ///   - finish: Receives the outcome of the change. If the change has to be made alone, this thread has the turn.
  fileprivate func perform(
    _ body: (inout WriteTransaction) throws(KeyringError) -> Void, commit: ([Change]) -> Void,
    finish: (Outcome) -> Void
  ) {
    withoutActuallyEscaping(body) { body in
      let change = Change(body)
      state.update { $0.queue.append(change) }
      let turn = state.wait { state -> Turn? in
        if !change.isWaiting, change.outcome != .alone { return .made }
        if state.isTaken { return nil }
        state.isTaken = true
        return .own(change.isWaiting ? state.takeAll() : [])
      }
      guard case .own(let batch) = turn else { return finish(change.outcome) }
      if !batch.isEmpty { commit(batch) }
      let outcome = state.update { state in
        for change in batch { change.isWaiting = false }
        state.isTaken = change.outcome == .alone
        return change.outcome
      }
      finish(outcome)
      if outcome == .alone { state.update { $0.isTaken = false } }
    }
  }
}

extension Keyring {
  /// Makes changes like `transaction(_:)`, in one transaction with the changes of threads that wait at the same time.
  func sharedTransaction<R>(
    _ body: (inout WriteTransaction) throws(KeyringError) -> R
  ) throws(KeyringError) -> R {
    var shared: R?
    var result: Result<R, KeyringError>?
    waitingChanges.perform { changes throws(KeyringError) in
      shared = try body(&changes)
    } commit: { batch in
      commitTogether(batch)
    } finish: { outcome in
      switch (outcome, shared) {
      case (.committed, let value?): result = .success(value)
      case (.failed(let error), _): result = .failure(error)
      default:
        result = Result { () throws(KeyringError) in
          try ownTransaction(subject: nil, signingAs: nil, body)
        }
      }
    }
    guard let result else { return try ownTransaction(subject: nil, signingAs: nil, body) }
    return try result.get()
  }

  /// Makes several changes in one transaction. A change that fails is left out, and has to be made alone.
  ///
  /// - Parameter batch: The changes, in the order in which they were queued.
  func commitTogether(_ batch: [WaitingChanges.Change]) {
    // The closures belong to calls of other threads, which may end as soon as this thread's turn ends.
    defer { for change in batch { change.body = nil } }
    guard batch.count > 1 else { return }
    var made: [WaitingChanges.Change] = []
    do throws(KeyringError) {
      try requireTrust()
      let before = try ReaderSnapshot(of: tree)
      if before.isPending { return }
      var changes = WriteTransaction(keyring: self)
      for change in batch where changes.includes(change.body) { made.append(change) }
      try changes.sign(as: self)
      guard try commit(changes, nil, since: before) else { return }
      for change in made { change.outcome = .committed }
    } catch {
      switch error {
      // After `unfinished` the changes are stored, so they must not be made again.
      case .file, .busy, .unfinished: for change in made { change.outcome = .failed(error) }
      // The error may concern only one of the changes.
      default: break
      }
    }
  }
}

extension WriteTransaction {
  /// Makes a change, or none of it if it fails.
  ///
  /// - Returns: False if it failed.
  fileprivate mutating func includes(
    _ body: ((inout WriteTransaction) throws(KeyringError) -> Void)?
  ) -> Bool {
    let before = savepoint
    do throws(KeyringError) {
      try body?(&self)
      return true
    } catch {
      // The change is made again alone, which reports the error.
      savepoint = before
      return false
    }
  }
}
