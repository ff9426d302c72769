import Foundation
import TestSupport
import Testing

/// Compares random commands of three people at two machines with a model: no secret is lost, and no file has a reader
/// too many.
@Suite struct SimulationTests {
  private static let environment = ProcessInfo.processInfo.environment

  /// The seeds of the long test. Each needs about 4 s of one processor;
  /// `KEYTREE_SLOW=1 KEYTREE_SIMULATION=1-20 KEYTREE_SIMULATION_COMMANDS=2000 swift test --filter SimulationTests` runs
  /// longer. With `SWIFT_DETERMINISTIC_HASHING=1` a seed gives the same commands again, because the program goes through
  /// sets.
  private static let seeds: ClosedRange<UInt64> = {
    let words = (environment["KEYTREE_SIMULATION"] ?? "").split(separator: "-").compactMap { UInt64($0) }
    return words.count == 2 && words[0] <= words[1] ? words[0]...words[1] : 1...8
  }()

  /// The number of commands for each seed of the long test.
  private static let length = environment["KEYTREE_SIMULATION_COMMANDS"].flatMap { Int($0) } ?? 50

  @Test func `nothing is lost in an hour of random commands`() throws {
    var simulation = Simulation(seed: 1, in: try SimulatedWorld())
    try simulation.run(60)
  }

  @Test(.slow)
  func `nothing is lost in some minutes of random commands with GnuPG`() throws {
    var simulation = Simulation(seed: 1, in: try SimulatedWorld(usesGnuPG: true))
    try simulation.run(30)
  }

  @Test(.slow)
  func `nothing is lost in a week of random commands`() throws {
    var simulation = Simulation(seed: 1, in: try SimulatedWorld())
    try simulation.run(300)
  }

  @Test(.slow, arguments: seeds)
  func `nothing is lost in a day of random commands`(seed: UInt64) throws {
    var simulation = Simulation(seed: seed, in: try SimulatedWorld())
    try simulation.run(Self.length)
    print("seed \(seed): \(simulation.counts)")
    if Self.environment["KEYTREE_SIMULATION_LOG"] != nil {
      print(simulation.log.joined(separator: "\n"))
    }
  }
}
