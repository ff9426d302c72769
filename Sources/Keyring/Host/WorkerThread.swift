internal import Glibc

/// A thread that runs one closure.
package struct WorkerThread: Sendable {
  private let thread: pthread_t

  /// Starts the thread.
  ///
  /// - Parameter body: The closure.
  /// - Returns: nil if no thread can be created.
  package init?(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
    let status = unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
        return nil
      }, context)
    guard status == 0 else {
      unsafe Unmanaged<Work>.fromOpaque(context).release()
      return nil
    }
    self.thread = thread
  }

  /// Waits until the closure has returned. Either this or `detach()` must be called, once.
  package func join() { pthread_join(thread, nil) }

  /// Lets the thread end without anyone waiting for it.
  package func detach() { pthread_detach(thread) }

  /// The context passed to the thread.
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}
