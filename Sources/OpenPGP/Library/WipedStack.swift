internal import CSystem

/// A thread for the work that touches plaintext.
///
/// libgpgme copies what it reads and writes through buffers on the stack. Measured: with the plaintext in
/// callbacks and the data object marked as sensitive one copy is left in the process; on a stack that is
/// wiped afterwards none.
enum WipedStack {
  /// Runs a body to its end on a stack that is wiped before this returns.
  ///
  /// - Parameter body: The work.
  static func run(_ body: () -> Void) {
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

  // A closure cannot be handed through C, an object can.
  private final class Job {
    let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }
  }
}
