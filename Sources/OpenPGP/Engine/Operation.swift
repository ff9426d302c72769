internal import CGPGME
internal import Glibc
internal import Secrets

extension Context {
  /// Runs an operation of libgpgme to its end, on a stack that is wiped afterwards. A context can run one operation.
  ///
  /// - Parameters:
  ///   - start: The call that starts the operation (`gpgme_op_..._start`).
  ///   - eachKey: Gets each key that the operation lists. The key is released afterwards.
  /// - Returns: The operation's error code, 0 when it succeeded.
  func run(
    _ start: (gpgme_ctx_t) -> gpgme_error_t, eachKey: (gpgme_key_t) -> Void = { _ in }
  ) -> gpgme_error_t {
    let context = unsafe pointer
    let operation = Operation()
    var code: gpgme_error_t = 0
    WipedStack.run {
      code = unsafe operation.run(in: context, start)
      unsafe operation.releaseKeys(eachKey)
    }
    return code
  }
}

/// An operation of libgpgme whose input and output this program waits for.
///
/// libgpgme 1.18 waits forever, and uses all of a processor, if gpg ends or closes its input while the pipe to it is full:
/// then `poll(2)` reports an error only, for which libgpgme does not look.
@safe
private final class Operation {
  /// A descriptor that libgpgme waits for.
  @safe
  private final class Watch {
    let descriptor: Int32
    let events: Int16
    let callback: gpgme_io_cb_t
    let argument: UnsafeMutableRawPointer?
    var isActive = true

    init(
      _ descriptor: Int32, _ events: Int32, _ callback: @escaping gpgme_io_cb_t,
      _ argument: UnsafeMutableRawPointer?
    ) {
      (self.descriptor, self.events) = (descriptor, Int16(events))
      unsafe self.callback = unsafe callback
      unsafe self.argument = unsafe argument
    }
  }

  private var watches: [Watch] = []
  private var keys: [gpgme_key_t] = unsafe []
  /// The error code of the operation; nil while it runs.
  private var end: gpgme_error_t?

  /// Starts the operation, and waits for its end.
  func run(in context: gpgme_ctx_t, _ start: (gpgme_ctx_t) -> gpgme_error_t) -> gpgme_error_t {
    let hook = unsafe Unmanaged.passUnretained(self).toOpaque()
    var callbacks = unsafe gpgme_io_cbs(
      add: Self.add, add_priv: hook, remove: Self.remove, event: Self.event, event_priv: hook)
    unsafe gpgme_set_io_cbs(context, &callbacks)
    var failure = unsafe start(context)
    while failure == 0, end == nil { failure = wait() }
    // libgpgme removes all descriptors before this object is released.
    if failure != 0 { _ = unsafe gpgme_cancel(context) }
    unsafe gpgme_set_io_cbs(context, nil)
    return failure != 0 ? failure : end ?? 0
  }

  /// Handles the next events.
  ///
  /// - Returns: The error code if that is not possible.
  private func wait() -> gpgme_error_t {
    watches.removeAll { !$0.isActive }
    let current = watches
    guard !current.isEmpty else { return gpgme_err_make(GPG_ERR_SOURCE_USER_1, GPG_ERR_EOF) }
    var requests = current.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
    guard unsafe poll(&requests, nfds_t(requests.count), -1) > 0 else {
      return errno == EINTR ? 0 : gpgme_err_make_from_errno(GPG_ERR_SOURCE_USER_1, errno)
    }
    for (watch, request) in zip(current, requests) where request.revents != 0 && watch.isActive && end == nil
    {
      // The event that ends the operation has the error.
      _ = unsafe watch.callback(watch.argument, watch.descriptor)
    }
    return 0
  }

  /// Passes the listed keys on, and releases them.
  func releaseKeys(_ body: (gpgme_key_t) -> Void) {
    for index in unsafe keys.indices {
      unsafe body(keys[index])
      unsafe gpgme_key_unref(keys[index])
    }
    unsafe keys = []
  }

  private static let add: gpgme_register_io_cb_t = { hook, descriptor, isInput, callback, argument, tag in
    guard let hook = unsafe hook, let callback = unsafe callback, let tag = unsafe tag else {
      return gpgme_err_make(GPG_ERR_SOURCE_USER_1, GPG_ERR_INV_VALUE)
    }
    let watch = unsafe Watch(descriptor, isInput != 0 ? POLLIN : POLLOUT, callback, argument)
    unsafe Unmanaged<Operation>.fromOpaque(hook).takeUnretainedValue().watches.append(watch)
    unsafe tag.pointee = Unmanaged.passRetained(watch).toOpaque()
    return 0
  }

  private static let remove: gpgme_remove_io_cb_t = { tag in
    guard let tag = unsafe tag else { return }
    unsafe Unmanaged<Watch>.fromOpaque(tag).takeRetainedValue().isActive = false
  }

  private static let event: gpgme_event_io_cb_t = { hook, event, data in
    guard let hook = unsafe hook else { return }
    let operation = unsafe Unmanaged<Operation>.fromOpaque(hook).takeUnretainedValue()
    switch event {
    case GPGME_EVENT_DONE:
      let done = unsafe data?.assumingMemoryBound(to: gpgme_io_event_done_data.self).pointee
      operation.end = done.map { $0.err != 0 ? $0.err : $0.op_err } ?? 0
    case GPGME_EVENT_NEXT_KEY:
      if let data = unsafe data {
        unsafe operation.keys.append(data.assumingMemoryBound(to: _gpgme_key.self))
      }
    default: break
    }
  }
}
