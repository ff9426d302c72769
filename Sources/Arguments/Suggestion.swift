/// Suggestions for mistyped names.
package enum Suggestion {
  /// Returns the nearest of the known names, or nil if none is near.
  ///
  /// A name is near if it differs by at most one edit for every three letters (at least one edit), or if the typed text
  /// has two letters or more and is the beginning of the name. An edit is an extra, missing or different letter, or two
  /// swapped letters (optimal string alignment). Case is ignored. Of equally near names, the first one is returned.
  ///
  /// - Parameters:
  ///   - typed: the mistyped name.
  ///   - known: the names that exist.
  package static func nearest(to typed: String, among known: [String]) -> String? {
    let lowered = typed.lowercased()
    let allowed = max(1, lowered.count / 3)
    var best: (name: String, distance: Int)?
    for name in known where abs(name.count - lowered.count) <= allowed {
      let found = distance(lowered, name.lowercased())
      if found <= allowed, found < best?.distance ?? .max { best = (name, found) }
    }
    if let best { return best.name }
    guard lowered.count >= 2 else { return nil }
    return known.first { $0.lowercased().hasPrefix(lowered) }
  }

  /// Returns the number of edits between two texts.
  static func distance(_ first: String, _ second: String) -> Int {
    let left = Array(first)
    let right = Array(second)
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for i in 0..<left.count {
      var row = [i + 1]
      for j in 0..<right.count {
        var edits = min(last[j + 1] + 1, row[j] + 1, last[j] + (left[i] == right[j] ? 0 : 1))
        if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
          edits = min(edits, beforeLast[j - 1] + 1)
        }
        row.append(edits)
      }
      beforeLast = last
      last = row
    }
    return last[right.count]
  }
}
