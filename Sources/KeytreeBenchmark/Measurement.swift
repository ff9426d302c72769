/// Numbers of the same thing, measured several times.
struct Samples {
  private let sorted: [Double]

  /// Takes the numbers; at least one.
  init(_ values: [Double]) {
    precondition(!values.isEmpty, "nothing was measured")
    sorted = values.sorted()
  }

  /// The number in the middle.
  var median: Double {
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  /// The smallest number.
  var least: Double { sorted[0] }
  /// The largest number.
  var most: Double { sorted[sorted.count - 1] }
}

/// Two programs that do the same, run by turns so that what disturbs one disturbs the other, too.
struct Comparison {
  /// The times of Keytree, in seconds.
  let ours: Samples
  /// The times of the peer, in seconds.
  let theirs: Samples
  /// Ours divided by theirs, pair by pair.
  let ratios: Samples
  /// The most memory that ours had in use, in bytes.
  let peakMemory: Int

  /// The ratio that limits are about: of the medians.
  var ratio: Double { ours.median / theirs.median }

  /// Runs pairs: ours, theirs, ours, theirs.
  ///
  /// - Parameters:
  ///   - pairs: How many are counted.
  ///   - warmUp: How many go before and are not counted; nil for a tenth of the pairs, at least one.
  ///   - ours: Our command for the pair of a number.
  ///   - theirs: What it is compared with.
  /// - Throws: `failed` when one of them does not succeed: then there is nothing to compare.
  init(
    pairs: Int, warmUp: Int? = nil,
    ours: (Int) throws(BenchmarkError) -> Command, theirs: (Int) throws(BenchmarkError) -> Command
  ) throws(BenchmarkError) {
    var (first, second, ratios) = ([Double](), [Double](), [Double]())
    var peak = 0
    let warmUp = warmUp ?? max(1, pairs / 10)
    for number in 0..<(warmUp + pairs) {
      let mine = try Self.succeed(try ours(number))
      let other = try Self.succeed(try theirs(number))
      if number < warmUp { continue }
      first.append(mine.seconds)
      second.append(other.seconds)
      ratios.append(mine.seconds / other.seconds)
      peak = max(peak, mine.peakMemory)
    }
    self.ours = Samples(first)
    self.theirs = Samples(second)
    self.ratios = Samples(ratios)
    peakMemory = peak
  }

  private static func succeed(_ command: Command) throws(BenchmarkError) -> ProcessOutcome {
    let outcome = try ChildProcess.run(command)
    guard outcome.status == 0 else {
      let said = command.errors == "/dev/null" ? [] : try Files.read(command.errors) ?? []
      throw .failed(
        command: command.text, status: outcome.ending, said: String(decoding: said, as: UTF8.self))
    }
    return outcome
  }
}
