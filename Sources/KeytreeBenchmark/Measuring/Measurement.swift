/// Repeated measurements of one quantity.
struct Samples {
  private let sorted: [Double]

  /// Creates samples from at least one number.
  init(_ values: [Double]) {
    precondition(!values.isEmpty, "nothing was measured")
    sorted = values.sorted()
  }

  /// The middle number, or the mean of the two middle numbers.
  var median: Double {
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  /// The smallest number.
  var least: Double { sorted[0] }
  /// The largest number.
  var most: Double { sorted[sorted.count - 1] }
}

/// Two programs that do the same, run alternately so that disturbances affect both.
struct Comparison {
  /// The times of Keytree, in seconds.
  let ours: Samples
  /// The times of the peer, in seconds.
  let theirs: Samples
  /// Ours divided by theirs, pair by pair.
  let ratios: Samples
  /// The peak memory of Keytree, in bytes.
  let peakMemory: Int
  /// The peak memory of the peer, in bytes.
  let peerPeakMemory: Int

  /// The ratio of the medians, to which limits apply.
  var ratio: Double { ours.median / theirs.median }

  /// Runs pairs: ours, theirs, ours, theirs.
  ///
  /// - Parameters:
  ///   - pairs: The number of pairs that are counted.
  ///   - warmUp: The number of pairs that run first and are not counted; nil for a tenth of the pairs, at least one.
  ///   - ours: Returns our command for a pair.
  ///   - theirs: Returns the command of the peer for a pair.
  /// - Throws: `failed` if one of the commands fails, because then there is nothing to compare.
  init(
    pairs: Int, warmUp: Int? = nil,
    ours: (Int) throws(BenchmarkError) -> Command, theirs: (Int) throws(BenchmarkError) -> Command
  ) throws(BenchmarkError) {
    var (first, second, ratios) = ([Double](), [Double](), [Double]())
    var (peak, peerPeak) = (0, 0)
    let warmUp = warmUp ?? max(1, pairs / 10)
    for number in 0..<(warmUp + pairs) {
      let mine = try Self.succeed(try ours(number))
      let other = try Self.succeed(try theirs(number))
      if number < warmUp { continue }
      first.append(mine.seconds)
      second.append(other.seconds)
      ratios.append(mine.seconds / other.seconds)
      peak = max(peak, mine.peakMemory)
      peerPeak = max(peerPeak, other.peakMemory)
    }
    self.ours = Samples(first)
    self.theirs = Samples(second)
    self.ratios = Samples(ratios)
    peakMemory = peak
    peerPeakMemory = peerPeak
  }

  /// Compares times that were measured alternately. The memory is not known.
  ///
  /// - Parameters:
  ///   - ours: The times of Keytree, in seconds; not empty.
  ///   - theirs: The times of the peer; as many.
  init(ours: [Double], theirs: [Double]) {
    self.ours = Samples(ours)
    self.theirs = Samples(theirs)
    ratios = Samples(zip(ours, theirs).map { $0 / $1 })
    (peakMemory, peerPeakMemory) = (0, 0)
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
