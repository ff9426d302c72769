internal import Glibc

/// The report of the benchmarks on standard output, with the number of limits that were exceeded.
struct Report {
  /// The number of limits that were exceeded.
  private(set) var over = 0
  /// The results with a limit so far, for a table at the end.
  private(set) var rows: [Row] = []
  /// True if the limits are those of the current key. Without it, results are collected and compared with nothing.
  var appliesLimits = true

  /// A result of the table.
  struct Row {
    let name: String
    let ours: String
    var theirs = ""
    var ratio = ""
    let limit: String
    let isWithin: Bool
  }

  /// Prints a comparison against a limit for the ratio of the medians.
  mutating func comparison(
    _ name: String, _ comparison: Comparison, ours: String, theirs: String, limit: Double?
  ) {
    line("\(name)")
    line("  \(padded(ours, 34)) \(Self.time(comparison.ours))")
    line("  \(padded(theirs, 34)) \(Self.time(comparison.theirs))")
    let pairs = Self.number(comparison.ratios.median, 2)
    if let limit {
      rows.append(
        Row(
          name: name, ours: "\(Self.number(comparison.ours.median * 1000, 2)) ms",
          theirs: "\(Self.number(comparison.theirs.median * 1000, 2)) ms (\(theirs))",
          ratio: Self.number(comparison.ratio, 2), limit: Self.number(limit, 2),
          isWithin: comparison.ratio <= limit))
    }
    verdict(
      "ratio", "\(Self.number(comparison.ratio, 2)) (median of pairs \(pairs))", value: comparison.ratio,
      limit: limit, limitText: limit.map { Self.number($0, 2) })
  }

  /// Prints a number against a limit.
  mutating func amount(_ name: String, _ text: String, value: Double, limit: Double, limitText: String) {
    rows.append(Row(name: name, ours: text, limit: limitText, isWithin: value <= limit))
    verdict(name, text, value: value, limit: limit, limitText: limitText)
  }

  /// Prints a number that has to reach a limit.
  mutating func rate(_ name: String, _ text: String, value: Double, least: Double) {
    let limit = "at least \(Self.number(least, 1))"
    let isWithin = value >= least
    rows.append(Row(name: name, ours: text, limit: limit, isWithin: isWithin))
    if appliesLimits { fact(name, "\(text)   wanted \(limit)", isRight: isWithin) } else { note(name, text) }
  }

  /// Prints all results with a limit since a row.
  ///
  /// - Parameter first: The number of the first row.
  func table(_ title: String, from first: Int) {
    line("")
    line("\(title)")
    let cells =
      [["measured", "ours", "the other program", "ratio", "target", ""]]
      + rows[first...].map {
        [$0.name, $0.ours, $0.theirs, $0.ratio]
          + (appliesLimits ? [$0.limit, $0.isWithin ? "ok" : "over"] : ["", ""])
      }
    let widths = (0..<6).map { column in cells.map { $0[column].utf8.count }.max() ?? 0 }
    for row in cells {
      line(zip(row, widths).map { padded($0, $1) }.joined(separator: "  "))
    }
  }

  /// Prints a fact and whether it is as expected.
  mutating func fact(_ name: String, _ text: String, isRight: Bool) {
    if !isRight { over += 1 }
    line("  \(padded(name, 34)) \(text)   \(isRight ? "ok" : "over")")
  }

  /// Prints a number that has to be equal to the wanted one; nil means that the number is missing.
  mutating func count(_ name: String, _ number: Int?, wanted: Int) {
    fact(name, number.map { "\($0)" } ?? "missing", isRight: number == wanted)
  }

  /// Prints a value without a limit.
  func note(_ name: String, _ text: String) { line("  \(padded(name, 34)) \(text)") }

  /// Prints a line.
  func line(_ text: String) {
    var rest = Array("\(text)\n".utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
      // The benchmarks continue even if the reader has gone away.
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  private mutating func verdict(
    _ name: String, _ text: String, value: Double, limit: Double?, limitText: String?
  ) {
    guard let limit, let limitText, appliesLimits else { return note(name, text) }
    if value > limit { over += 1 }
    line("  \(padded(name, 34)) \(text)   wanted at most \(limitText)   \(value > limit ? "over" : "ok")")
  }

  private func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.utf8.count))
  }

  /// Returns the numbers that a program prints in lines of the form `name: number`.
  static func numbers(in text: String) -> [String: Double] {
    var numbers: [String: Double] = [:]
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: ":")
      if parts.count == 2 { numbers[String(parts[0])] = Double(parts[1].drop { $0 == " " }) }
    }
    return numbers
  }

  /// Returns the median with the minimum and the maximum, in milliseconds.
  static func time(_ samples: Samples) -> String {
    let (least, most) = (number(samples.least * 1000, 2), number(samples.most * 1000, 2))
    return "\(number(samples.median * 1000, 2)) ms (\(least) - \(most))"
  }

  /// Returns a number of bytes in MB (a million bytes).
  static func memory(_ bytes: Int) -> String { "\(number(Double(bytes) / 1_000_000, 1)) MB" }

  /// Returns a number with a fixed number of digits after the decimal point.
  static func number(_ value: Double, _ digits: Int) -> String {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let whole = Int((value * scale).rounded())
    let (front, rest) = (whole / Int(scale), String(whole % Int(scale)))
    return digits == 0
      ? "\(front)" : "\(front).\(String(repeating: "0", count: digits - rest.utf8.count))\(rest)"
  }
}
