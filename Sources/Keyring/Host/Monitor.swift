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
    unsafe pthread_cond_init(change, nil)
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
