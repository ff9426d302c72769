internal import CSystem
internal import Glibc
internal import KeyringModel
internal import Secrets
internal import Synchronization

/// Decrypted secrets that a process keeps in memory for a limited time, so that it does not decrypt them again.
///
/// A secret is found by the digest of its encrypted file, so a changed file is decrypted again. The time begins when the
/// secret is stored and is not extended by reading it. Only memory that is locked (`mlock(2)`) is used: if the limit on
/// locked memory is exhausted, a secret is not kept. The oldest secrets make room for new ones. Secrets are wiped when
/// their time ends, by a thread that exists as long as there are secrets, and when the keyring is closed.
final class KeptSecrets: Sendable {
  /// Calls a closure on another thread. Returns false if there is no thread for it.
  typealias Starting = @Sendable (_ body: @escaping @Sendable () -> Void) -> Bool

  /// The largest number of secrets.
  static let countLimit = 1024
  /// The largest number of bytes of all secrets. Each of them occupies whole pages.
  static let byteLimit = 4 << 20

  private struct Entry {
    let secret: SecretSlice
    /// The time at which it is wiped, on the clock of elapsed time.
    let end: Int64
  }

  private struct State {
    var entries: [ContentDigest: Entry] = [:]
    /// The digests of the entries, oldest first. May contain digests of entries that were removed.
    var order: [ContentDigest] = []
    var bytes = 0
    var hasThread = false
  }

  private let state = Mutex(State())
  private let lifetime: Int64
  private let clock: FileClock
  private let start: Starting
  private let pause: @Sendable (Int64) -> Void

  /// Creates an empty collection.
  ///
  /// - Parameters:
  ///   - lifetime: The time for which a secret is kept, at most a day.
  ///   - clock: The clock of elapsed time, which includes the time in which the machine is suspended.
  ///   - start: Starts the thread that wipes secrets.
  ///   - pause: Waits for a number of nanoseconds, or for less.
  init(
    lifetime: Duration, clock: FileClock, start: @escaping Starting = KeptSecrets.inBackground,
    pause: @escaping @Sendable (Int64) -> Void = KeptSecrets.sleep
  ) {
    self.lifetime = Int64(min(lifetime, .seconds(86_400)) / .nanoseconds(1))
    (self.clock, self.start, self.pause) = (clock, start, pause)
  }

  /// The number of secrets in memory.
  var count: Int { state.withLock { $0.entries.count } }

  /// Returns a copy of the secret of an encrypted file; nil if it is not kept.
  ///
  /// - Parameter sealed: The digest of the encrypted file.
  func secret(of sealed: ContentDigest) -> SecretBytes? {
    let now = clock.elapsed()
    let slice = state.withLock { state in
      Self.removeExpired(&state, at: now)
      return state.entries[sealed]?.secret
    }
    return slice?.copy()
  }

  /// Keeps a copy of a secret, if there is locked memory for it.
  ///
  /// - Parameters:
  ///   - secret: The secret.
  ///   - sealed: The digest of the encrypted file.
  func keep(_ secret: borrowing SecretBytes, of sealed: ContentDigest) {
    guard secret.count <= Self.byteLimit else { return }
    let copy = secret.copy()
    guard copy.isLocked else { return }
    let size = copy.memorySize
    let (slice, now) = (SecretSlice(copy), clock.elapsed())
    let needsThread = state.withLock { state in
      Self.removeExpired(&state, at: now)
      guard state.entries[sealed] == nil else { return false }
      Self.makeRoom(&state, for: size)
      state.entries[sealed] = Entry(secret: slice, end: now + lifetime)
      state.order.append(sealed)
      state.bytes += size
      defer { state.hasThread = true }
      return !state.hasThread
    }
    // Without a thread, nothing would wipe the secret in a process that makes no further calls.
    if needsThread, !start({ self.wipeOnTime() }) {
      state.withLock { $0 = State() }
    }
  }

  /// Wipes the secret of an encrypted file.
  func forget(_ sealed: ContentDigest) {
    state.withLock { Self.remove(sealed, from: &$0) }
  }

  /// Wipes all secrets.
  func forgetAll() {
    state.withLock { state in
      (state.entries, state.order, state.bytes) = ([:], [], 0)
    }
  }

  // MARK: Removing

  /// Wipes secrets whose time has ended, until none are left.
  private func wipeOnTime() {
    while let rest = nextPause() { pause(rest) }
  }

  /// Wipes the secrets whose time has ended, and returns the time until the next one ends; nil if none are left.
  private func nextPause() -> Int64? {
    let now = clock.elapsed()
    return state.withLock { state in
      Self.removeExpired(&state, at: now)
      guard let oldest = state.order.first, let entry = state.entries[oldest] else {
        state.hasThread = false
        return nil
      }
      return max(1, entry.end - now)
    }
  }

  private static func removeExpired(_ state: inout State, at now: Int64) {
    while let oldest = state.order.first {
      if let entry = state.entries[oldest], entry.end > now { return }
      remove(oldest, from: &state)
    }
  }

  private static func makeRoom(_ state: inout State, for size: Int) {
    while let oldest = state.order.first, state.entries.count >= countLimit || state.bytes + size > byteLimit
    {
      remove(oldest, from: &state)
    }
  }

  private static func remove(_ sealed: ContentDigest, from state: inout State) {
    guard let entry = state.entries.removeValue(forKey: sealed) else { return }
    state.bytes -= entry.secret.memorySize
    if let position = state.order.firstIndex(of: sealed) { state.order.remove(at: position) }
  }

  // MARK: Threads

  /// Starts a thread that nothing waits for.
  static let inBackground: Starting = { body in
    final class Work: Sendable {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    let work = unsafe Unmanaged.passRetained(Work(body))
    let problem = unsafe keytree_in_background(
      { context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
        return nil
      }, work.toOpaque())
    if problem != 0 { unsafe work.release() }
    return problem == 0
  }

  /// The longest time in nanoseconds that the thread sleeps. It ends this long after the keyring is closed, instead of at
  /// the end of the time of its secrets: a process can open many keyrings.
  private static let longestSleep: Int64 = 1_000_000_000

  /// Waits, including the time in which the machine is suspended.
  static let sleep: @Sendable (Int64) -> Void = { nanoseconds in
    let rest = min(nanoseconds, longestSleep)
    var time = timespec(tv_sec: Int(rest / 1_000_000_000), tv_nsec: Int(rest % 1_000_000_000))
    // A signal may end it early; the caller then looks at the clock again.
    _ = unsafe clock_nanosleep(CLOCK_BOOTTIME, 0, &time, nil)
  }
}
