/// The difference between two texts, line by line, in readable form.
enum LineDifference {
  /// The lines of both texts: ` ` in both, `-` only in the first, `+` only in the second; empty when equal.
  static func show(_ first: [String], _ second: [String]) -> String {
    guard first != second else { return "" }
    let changes = second.difference(from: first)
    var removed: Set<Int> = []
    var inserted: Set<Int> = []
    for change in changes {
      switch change {
      case .remove(let offset, _, _): removed.insert(offset)
      case .insert(let offset, _, _): inserted.insert(offset)
      }
    }
    var lines: [String] = []
    var (left, right) = (0, 0)
    while left < first.count || right < second.count {
      if removed.contains(left) {
        lines.append("- " + first[left])
        left += 1
      } else if inserted.contains(right) {
        lines.append("+ " + second[right])
        right += 1
      } else {
        lines.append("  " + first[left])
        left += 1
        right += 1
      }
    }
    return lines.joined(separator: "\n")
  }
}
