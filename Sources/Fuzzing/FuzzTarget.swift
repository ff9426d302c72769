internal import Secrets

/// A parser as a function that takes any bytes. It returns for every input; a crash, a broken law, a hang and unbounded
/// memory are findings.
struct FuzzTarget: Sendable {
  /// The name: that of its folder in `fixtures/fuzz`.
  let name: String
  /// Runs the parser, and checks its laws.
  let run: @Sendable ([UInt8]) -> Void

  init(_ name: String, _ run: @escaping @Sendable ([UInt8]) -> Void) { (self.name, self.run) = (name, run) }

  /// All targets.
  static let all =
    jsonTargets + recordTargets + openPGPTargets + importTargets + protocolTargets + nameTargets
    + keychainTargets
    + busTargets
}

/// Ends the process if a law does not hold.
///
/// - Parameters:
///   - holds: The result of the check.
///   - law: The law, for the report.
func expect(_ holds: Bool, _ law: StaticString) {
  if !holds { fatalError("broken law: \(law)") }
}

/// Returns the result of a parser; nil if it throws.
func parsed<R: ~Copyable, E: Error>(_ parse: () throws(E) -> R) -> R? {
  do throws(E) { return try parse() } catch { return nil }
}

extension SecretBytes {
  /// A copy in ordinary memory.
  var array: [UInt8] { unsafe withBytes { unsafe Array($0) } }
}

/// Reads the parts of an input for a parser of values instead of bytes. Every input is complete: missing bytes are 0.
struct InputReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  /// A Boolean value that indicates whether all bytes were read.
  var isAtEnd: Bool { rest.isEmpty }

  /// Reads a byte.
  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  /// Reads the given number of bytes, or fewer at the end.
  mutating func bytes(_ count: Int) -> [UInt8] {
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  /// Reads a length of one byte and as many bytes.
  mutating func string() -> [UInt8] { bytes(Int(byte())) }

  /// Reads a text like `string`. Bytes that are not UTF-8 are replaced.
  mutating func text() -> String { String(decoding: string(), as: UTF8.self) }

  /// Reads a number of eight bytes.
  mutating func number() -> UInt64 { bytes(8).reduce(0) { $0 << 8 | UInt64($1) } }

  /// Reads everything else.
  mutating func remainder() -> [UInt8] { bytes(rest.count) }
}
