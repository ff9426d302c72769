extension Duration {
  /// The time in milliseconds, rounded up, as `poll(2)` needs it.
  var milliseconds: Int32 {
    let (seconds, attoseconds) = components
    guard seconds < 1_000_000 else { return .max }
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    return Int32(seconds) * 1000 + Int32((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}
