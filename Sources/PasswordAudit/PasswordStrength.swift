internal import CSystem
internal import CommandSupport
internal import KeyringModel
internal import Secrets

/// A degree of weakness. At 10^10 guesses a second, 40 bits are searched in two minutes, and 65 bits in a century.
package enum Weakness: String, Sendable {
  /// Fewer than 40 bits.
  case veryWeak = "very weak"
  /// Fewer than 65 bits.
  case weak

  /// Creates the weakness of a password with an estimated entropy; nil for a password that is not weak.
  ///
  /// - Parameter bits: The binary logarithm of the number of guesses.
  init?(bits: Double) {
    if bits >= 65 { return nil }
    self = bits < 40 ? .veryWeak : .weak
  }
}

/// The strength estimator of libzxcvbn, which knows common passwords, words, names, dates, keyboard patterns and
/// repetitions.
@safe
package struct StrengthEstimator: @unchecked Sendable {
  // Unchecked, because the compiler considers the pointer unsafe. It is the address of a function without state.
  private let function: UnsafeMutableRawPointer

  /// The name of the library for `dlopen(3)`.
  package static let library = "libzxcvbn.so.0"
  /// The name of Debian's package.
  package static let package = "libzxcvbn0"

  /// The number of bytes of a password that are examined. The cost of an estimate grows with the square of the length,
  /// and so many bytes suffice to call a password strong.
  package static let examinedBytes = 100

  /// Loads the library.
  ///
  /// - Parameter library: The name of the library for `dlopen(3)`.
  /// - Returns: nil if the library is not installed, or is not libzxcvbn.
  package init?(library: String = StrengthEstimator.library) {
    guard let function = unsafe keytree_zxcvbn_load(library) else { return nil }
    unsafe self.function = unsafe function
  }

  /// Estimates the strength of a password. Several threads may call it.
  ///
  /// - Parameters:
  ///   - password: The password, without a NUL. Only its first bytes are examined; see ``examinedBytes``.
  ///   - words: The words that an attacker would try first.
  /// - Returns: The weakness; nil for a password that is not weak.
  func weakness(of password: borrowing SecretBytes, _ words: GuessableWords) -> Weakness? {
    var text = password.copy(0..<min(password.count, Self.examinedBytes))
    text.append(0)
    let bits = unsafe text.withBytes { text in
      unsafe words.text.withUnsafeBytes { list in
        unsafe keytree_zxcvbn_bits(
          function, text.baseAddress?.assumingMemoryBound(to: CChar.self),
          list.baseAddress?.assumingMemoryBound(to: CChar.self), words.count)
      }
    }
    return Weakness(bits: bits)
  }
}

/// The words in the attributes of an item that an attacker would try first: its account, server, service and label, and
/// their parts.
struct GuessableWords {
  /// The words, each ended by NUL.
  private(set) var text: [UInt8] = []
  /// The number of words.
  private(set) var count = 0

  /// A shorter word would make a password weaker just because it contains these letters somewhere.
  private static let minimumSize = 3

  /// Collects the words of an item.
  init(of record: ItemRecord) {
    var seen: Set<[UInt8]> = []
    for name in [AttributeName.account, .server, .service, .label] {
      guard let value = record.attributes[name]?.contentBytes, !value.contains(0) else { continue }
      let parts = value.split { byte in !(byte >= 0x80 || Self.isLetterOrDigit(byte)) }
      for word in [value[...]] + parts {
        let word = Array(word)
        guard word.count >= Self.minimumSize, word.count <= StrengthEstimator.examinedBytes,
          count < Int(KEYTREE_ZXCVBN_WORDS), seen.insert(word).inserted
        else { continue }
        text += word + [0]
        count += 1
      }
    }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }
}
