internal import Glibc

/// The signals that would end this process, deferred until the work in progress is cleaned up.
package struct Interruption {
  private let signals: SignalWatch

  /// Starts to defer signals. Returns nil if that is not possible; signals then end the process as usual.
  package init?() {
    do {
      signals = try SignalWatch()
    } catch {
      return nil
    }
  }

  /// Returns the first signal since the last call that should end this process.
  package func takeSignal() -> Int32? { signals.take().first { $0 != SIGCHLD } }

  /// Stops deferring signals. Call it once, after the cleanup.
  package func stop() { signals.stop() }
}
