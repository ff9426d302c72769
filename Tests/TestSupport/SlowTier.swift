// A build without tests does not find Testing.
#if canImport(Testing)
  package import Testing

  internal import class Foundation.ProcessInfo

  extension Trait where Self == ConditionTrait {
    /// Runs the tests only if `KEYTREE_SLOW` is set.
    ///
    /// `swift test` without the variable is quick enough for every change. Tests with this trait take long: they inject a
    /// fault into each step, kill or trace processes, or wait for other programs. `.ci/run` runs them, too, and
    /// `.ci/slow-tests` lists their suites.
    package static var slow: Self {
      .enabled(if: ProcessInfo.processInfo.environment["KEYTREE_SLOW"] != nil, "KEYTREE_SLOW is not set")
    }
  }
#endif
