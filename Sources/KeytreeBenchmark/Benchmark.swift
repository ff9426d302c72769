/// Something that is measured, by name.
struct Benchmark: Sendable {
  /// What the person calls it.
  let name: String
  /// What it shows.
  let summary: String
  /// Whether it takes too long to be run without being asked for.
  var onlyByName = false
  /// Measures and reports.
  let run: @Sendable (Workbench, inout Report) throws(BenchmarkError) -> Void

  /// All of them, in the order in which they run.
  static let all: [Benchmark] = [
    version, find, queries, secItem, get, add, listing, bulk, processes, history, growth, merging, teams,
    protected, verify, bombs, credentials, rotation, faults, killSweep, syncFaults,
  ]
}
