/// A named benchmark.
struct Benchmark: Sendable {
  /// The name on the command line.
  let name: String
  /// The quantity that it measures.
  let summary: String
  /// A Boolean value that indicates whether it takes so long that it runs only if it is named.
  var onlyByName = false
  /// Measures and reports.
  let run: @Sendable (Workbench, inout Report) throws(BenchmarkError) -> Void

  /// All benchmarks, in the order in which they run.
  static let all: [Benchmark] = [
    table, version, find, queries, secItem, secretService, desktopKeyring, get, add, listing, bulk,
    secondImport,
    processes, history,
    growth,
    merging, teams,
    protected, verify, latency, bombs, credentials, browser, rotation, faults, killSweep, syncFaults,
  ]
}
