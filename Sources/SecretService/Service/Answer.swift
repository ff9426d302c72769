/// The answer to a call: a value, or work that produces it.
package enum Answer<Value: Sendable>: Sendable {
  /// The value.
  case now(Value)
  /// Work for another thread, because it decrypts, encrypts, signs, or waits for GnuPG.
  case later(Work<Value>)
}

/// Work that a worker thread does. The thread that owns the service then passes the result to
/// ``SecretService/finish(_:)``, in every case, even if the client no longer exists.
package struct Work<Value: Sendable>: Sendable {
  /// The classes of work.
  package enum Kind: Sendable {
    /// Decrypts secrets. At most four of these run at a time.
    case read
    /// Changes the store. These run one after another.
    case write
    /// Waits for the user or the agent. Any number of these run at a time.
    case agent
  }

  /// The class of the work.
  package let kind: Kind
  let sender: Sender
  let body: @Sendable () -> (result: Result<Value, any Error>, effect: WorkEffect)

  /// Does the work. Called once, by any thread but the one that owns the service.
  ///
  /// - Returns: The result for ``SecretService/finish(_:)``.
  package func run() -> Outcome<Value> {
    let (result, effect) = body()
    return Outcome(result: result, effect: effect, sender: sender)
  }
}

/// The result of finished work, and its effects on what the service knows.
package struct Outcome<Value: Sendable>: Sendable {
  let result: Result<Value, any Error>
  let effect: WorkEffect
  let sender: Sender
}
