internal import Glibc
internal import Secrets

/// Secrets in a fixed order, so that one of many is found with few comparisons. They are neither copied nor digested.
struct SortedSecrets<Owner> {
  private let entries: [(secret: SecretSlice, owner: Owner)]

  /// Sorts secrets.
  ///
  /// - Parameter entries: the secrets, each with a value that belongs to it. Those of equal secrets keep their order.
  init(_ entries: [(secret: SecretSlice, owner: Owner)]) {
    let order = entries.indices.sorted { one, other in
      let difference = entries[one].secret.order(before: entries[other].secret)
      return (difference, one) < (0, other)
    }
    self.entries = order.map { entries[$0] }
  }

  /// Returns the values that belong to a secret.
  ///
  /// - Parameter secret: the secret.
  /// - Returns: the values in their original order; empty if no secret is equal.
  func owners(of secret: SecretSlice) -> some Sequence<Owner> {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].secret.order(before: secret) < 0 { low = middle + 1 } else { high = middle }
    }
    return entries[low...].lazy.prefix { $0.secret.isEqual(to: secret) }.map(\.owner)
  }

  /// Returns true if one of the secrets is equal to another one.
  func contains(_ secret: SecretSlice) -> Bool { owners(of: secret).contains { _ in true } }
}

extension SecretSlice {
  /// Returns a negative number if this secret is before another one, zero if both are equal. Shorter ones come first.
  fileprivate func order(before other: SecretSlice) -> Int {
    guard count == other.count else { return count - other.count }
    return unsafe withBytes { mine in
      unsafe other.withBytes { theirs in
        guard let mine = mine.baseAddress, let theirs = theirs.baseAddress else { return 0 }
        return unsafe Int(memcmp(mine, theirs, count))
      }
    }
  }
}
