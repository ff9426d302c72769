internal import Glibc

/// A value that one thread at a time may use, with a way to wait until another thread has changed it.
@safe
final class Monitor<Value>: @unchecked Sendable {
  // Unchecked, because the lock protects the value.
  private var value: Value
  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let change = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init(_ value: sending Value) {
    self.value = value
    unsafe pthread_mutex_init(lock, nil)
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    // The clock of `SystemClock.awake`.
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(change, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_cond_destroy(change)
    unsafe pthread_mutex_destroy(lock)
    unsafe change.deallocate()
    unsafe lock.deallocate()
  }

  /// Changes the value, and wakes the threads that wait for a change.
  func update<R>(_ body: (inout Value) -> R) -> R {
    unsafe pthread_mutex_lock(lock)
    defer {
      unsafe pthread_cond_broadcast(change)
      unsafe pthread_mutex_unlock(lock)
    }
    return body(&value)
  }

  /// Calls a closure like `wait(for:)`, but no longer than until a time of `SystemClock.awake`.
  ///
  /// - Returns: The result of the closure; nil if it had none until then.
  func wait<R>(until end: Duration, for body: (inout Value) -> R?) -> R? {
    let (seconds, attoseconds) = end.components
    var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    unsafe pthread_mutex_lock(lock)
    defer { unsafe pthread_mutex_unlock(lock) }
    while true {
      if let result = body(&value) { return result }
      if unsafe pthread_cond_timedwait(change, lock, &time) != 0 { return nil }
    }
  }

  /// Calls a closure now, and again after each change, until it returns a result.
  ///
  /// - Parameter body: Returns nil as long as the thread has to wait. May change the value only when it returns a result.
  func wait<R>(for body: (inout Value) -> R?) -> R {
    unsafe pthread_mutex_lock(lock)
    defer { unsafe pthread_mutex_unlock(lock) }
    while true {
      if let result = body(&value) { return result }
      unsafe pthread_cond_wait(change, lock)
    }
  }
}
