internal import Glibc

/// The signals that would end this process, held back until what was begun is cleaned up.
struct Interruption {
  private let signals: SignalWatch

  /// Starts to hold signals back; nil when that is not possible: then they end the process as usual.
  init?() {
    do {
      signals = try SignalWatch()
    } catch {
      return nil
    }
  }

  /// The first signal since the last look that means the end of this process.
  func takeSignal() -> Int32? { signals.take().first { $0 != SIGCHLD } }

  /// Ends it. To be called once, after the cleaning up.
  func stop() { signals.stop() }
}
