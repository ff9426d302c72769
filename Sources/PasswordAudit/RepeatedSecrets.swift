internal import Encoding
internal import Secrets
internal import Synchronization

/// A comparison of many secrets with each other, which keeps one keyed digest of each secret in wiped memory.
final class RepeatedSecrets: Sendable {
  /// The position of a secret in the comparison.
  struct Place: Hashable, Sendable {
    fileprivate let number: Int
  }

  private let function = KeyedDigest()
  /// The digests, one after the other. One block, because a separate block for each would take a page of locked memory.
  private let digests: Mutex<SecretBytes>

  /// Creates a comparison.
  ///
  /// - Parameter capacity: The expected number of secrets.
  init(capacity: Int) {
    digests = Mutex(SecretBytes(capacity: capacity * KeyedDigest.size))
  }

  /// Adds a secret. Several threads may add secrets.
  ///
  /// - Returns: The position of the secret.
  /// - Throws: `KeyedDigest.Failure`.
  func add(_ secret: borrowing SecretBytes) throws(KeyedDigest.Failure) -> Place {
    let digest = try function.digest(of: secret)
    return digests.withLock { digests in
      digests.append(digest)
      return Place(number: digests.count / KeyedDigest.size - 1)
    }
  }

  /// The positions of secrets that were added more than once, one list for each of them, in no particular order.
  var repeated: [[Place]] {
    digests.withLock { digests in
      unsafe digests.withBytes { bytes in
        func digest(_ place: Place) -> UnsafeRawBufferPointer.SubSequence {
          unsafe bytes[place.number * KeyedDigest.size..<(place.number + 1) * KeyedDigest.size]
        }
        let places = (0..<bytes.count / KeyedDigest.size).map { Place(number: $0) }.sorted {
          unsafe digest($0).lexicographicallyPrecedes(digest($1))
        }
        var lists: [[Place]] = []
        var rest = places[...]
        while let first = rest.first {
          let equal = rest.prefix { unsafe digest($0).elementsEqual(digest(first)) }
          if equal.count > 1 { lists.append(Array(equal)) }
          rest = rest.dropFirst(equal.count)
        }
        return lists
      }
    }
  }
}
