internal import CSystem

/// A thread for work with plaintext.
///
/// Libraries leave copies of their input and output in buffers on the stack. Measured for libgpgme: with callbacks for
/// the plaintext and the data object marked as sensitive, one copy remains in the process. On a stack that is wiped
/// afterwards none remains.
package enum WipedStack {
  /// Runs a closure to its end on a stack that is wiped before this function returns.
  ///
  /// - Parameter body: The work.
  package static func run(_ body: () -> Void) {
    withoutActuallyEscaping(body) { body in
      let job = Job(body)
      withExtendedLifetime(job) {
        unsafe keytree_on_wiped_stack(
          { context in
            guard let context = unsafe context else { return }
            unsafe Unmanaged<Job>.fromOpaque(context).takeUnretainedValue().body()
          }, Unmanaged.passUnretained(job).toOpaque())
      }
    }
  }

  // C can pass an object as a pointer, but not a closure.
  private final class Job {
    let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }
  }
}
