internal import CommandSupport
internal import Encoding
internal import Glibc
internal import Secrets
internal import Terminal

/// An open file or folder, which is closed with this value.
final class OpenDescriptor: Sendable {
  /// The descriptor.
  let number: Int32

  /// Takes ownership of a descriptor.
  init(_ number: Int32) { self.number = number }

  deinit { close(number) }
}

/// A file of lines that begin with hexadecimal digits and are sorted by them: `HASH`, or `HASH:COUNT`.
///
/// Lines end with LF or CRLF, and may have spaces before that. Digits may be upper-case or lower-case. The file may be
/// larger than the memory: a search reads about as many lines as its size has bits.
final class SortedHashFile: Sendable {
  /// One line of the file.
  private struct Line {
    /// The offset of its first byte.
    let start: Int
    /// The offset of the next line.
    let next: Int
    /// Its digits, in upper case.
    let hash: [UInt8]
    /// Its count; nil if it has none.
    let count: Int?
  }

  /// A line that was found.
  struct Match: Equatable {
    /// The number in the line; nil if it has none.
    let count: Int?
  }

  private let file: OpenDescriptor
  private let path: String
  /// The number of digits in each line.
  let digits: Int
  private let size: Int

  /// The maximum number of bytes in a line, with its end.
  private static let lineLimit = 128

  /// Checks lines of an open file that are distributed over it evenly.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - path: The path for messages.
  ///   - digits: The numbers of digits that a line may have. All lines have as many as the first one.
  ///   - samples: The number of lines to check.
  /// - Throws: `BreachListError`; `UserFileError` if the file cannot be read.
  init(file: OpenDescriptor, path: String, digits allowed: ClosedRange<Int>, samples: Int) throws {
    self.file = file
    self.path = path
    var status = stat()
    guard unsafe fstat(file.number, &status) == 0 else {
      throw UserFileError(action: "read", path: path, errno: errno)
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw BreachListError.notAFile(path: path) }
    let length = Int(status.st_size)
    let ending = try Self.read(file, path, max(0, length - Self.lineLimit)..<length)
    let blanks = ending.reversed().prefix { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.count
    size = length - blanks
    guard size > 0 else { throw BreachListError.empty(path: path) }
    digits = Self.digits(atStartOf: try Self.read(file, path, 0..<min(size, Self.lineLimit)))
    if digits == Self.digitsOfNTLM { throw BreachListError.isNTLM(path: path) }
    guard allowed.contains(digits) else { throw BreachListError.badLine(path: path) }
    var before: Line?
    for sample in 0...samples {
      let line = try line(at: min(size * sample / samples, size - 1), notBefore: 0)
      if let before, before.start < line.start, line.hash.lexicographicallyPrecedes(before.hash) {
        throw BreachListError.notSorted(path: path)
      }
      before = line
    }
  }

  /// Searches the line with a hash. Several threads may search.
  ///
  /// - Parameter hash: The digits of the hash, in upper case.
  /// - Returns: The line, or nil if the file does not have the hash.
  /// - Throws: `BreachListError`; `UserFileError` if the file cannot be read.
  func match(_ hash: SecretSlice) throws -> Match? {
    // A line with the hash can only begin in this range. Its lower bound is always the beginning of a line.
    var (low, high) = (0, size)
    var lowest: [UInt8] = []
    var highest: [UInt8]?
    while low < high {
      let line = try line(at: low + (high - low) / 2, notBefore: low)
      let isInOrder =
        !line.hash.lexicographicallyPrecedes(lowest)
        && highest.map { !$0.lexicographicallyPrecedes(line.hash) } != false
      guard isInOrder else { throw BreachListError.notSorted(path: path) }
      let order = unsafe hash.withBytes { hash in
        unsafe hash.elementsEqual(line.hash) ? 0 : hash.lexicographicallyPrecedes(line.hash) ? -1 : 1
      }
      if order == 0 { return Match(count: line.count) }
      if order < 0 {
        (high, highest) = (line.start, line.hash)
      } else {
        (low, lowest) = (line.next, line.hash)
      }
    }
    return nil
  }

  /// Returns the line that contains a byte.
  ///
  /// - Parameters:
  ///   - offset: The offset of the byte.
  ///   - low: The beginning of this line or of an earlier one.
  private func line(at offset: Int, notBefore low: Int) throws -> Line {
    let from = max(low, offset - Self.lineLimit)
    let bytes = try Self.read(file, path, from..<min(size, offset + Self.lineLimit))
    let position = offset - from
    guard position < bytes.count else { throw BreachListError.badLine(path: path) }
    let feed = UInt8(ascii: "\n")
    var start = 0
    if let before = bytes[..<position].lastIndex(of: feed) {
      start = before + 1
    } else if from > low {
      throw BreachListError.badLine(path: path)
    }
    let end: Int
    if let found = bytes[position...].firstIndex(of: feed) {
      end = found
    } else if from + bytes.count == size {
      end = bytes.count
    } else {
      throw BreachListError.badLine(path: path)
    }
    let text = bytes[start..<end]
    let (hash, count) = try parse(text)
    return Line(start: from + start, next: from + end + 1, hash: hash, count: count)
  }

  /// Returns the parts of a line without its line feed.
  private func parse(_ line: ArraySlice<UInt8>) throws -> (hash: [UInt8], count: Int?) {
    var text = line
    while let last = text.last, last == UInt8(ascii: "\r") || last == UInt8(ascii: " ") { text.removeLast() }
    let hash = text.prefix { Hexadecimal.value(ofDigitInAnyCase: $0) != nil }
    guard hash.count == digits else { throw BreachListError.badLine(path: path) }
    let upper = hash.map { (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) ? $0 & ~0x20 : $0 }
    let rest = text.dropFirst(digits)
    if rest.isEmpty { return (upper, nil) }
    let number = rest.dropFirst()
    guard rest.first == UInt8(ascii: ":"),
      number.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
      let count = Int(String(decoding: number, as: UTF8.self))
    else { throw BreachListError.badLine(path: path) }
    return (upper, count)
  }

  private static func digits(atStartOf bytes: [UInt8]) -> Int {
    bytes.prefix { Hexadecimal.value(ofDigitInAnyCase: $0) != nil }.count
  }

  private static let digitsOfNTLM = 32

  /// Reads a range of a file; fewer bytes only if the file has become shorter.
  private static func read(_ file: OpenDescriptor, _ path: String, _ range: Range<Int>) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: range.count)
    var count = 0
    while count < bytes.count {
      let got = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe pread(
          file.number, buffer.baseAddress.map { unsafe $0 + count }, range.count - count,
          off_t(range.lowerBound + count))
      }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw UserFileError(action: "read", path: path, errno: errno) }
      if got == 0 { break }
      count += got
    }
    return Array(bytes.prefix(count))
  }
}
