internal import CSystem
internal import CommandSupport
internal import Encoding
internal import Glibc
internal import Secrets
internal import Terminal

/// A list of the SHA-1 hashes of breached passwords, as Have I Been Pwned publishes it. It is searched on this machine;
/// nothing is sent anywhere.
///
/// The list is one file with a line for each hash, sorted, or a folder with a file for each range of hashes: the name of
/// a file is the first five digits, with or without `.txt`, and its lines begin with the other 35. The lines of one file
/// may have only the first digits of each hash, at least ten; of a billion other passwords, fewer than one in a thousand
/// then has the same digits as a given one.
package struct BreachedPasswords: Sendable {
  /// A password that the list contains.
  package struct Breach: Equatable, Sendable {
    /// The number of times that the password was found; nil if the list has no numbers.
    let count: Int?
    /// True if the list has only the first digits of each hash, so that it may contain another password.
    var isPrefix = false
  }

  private enum Source: Sendable {
    case file(SortedHashFile)
    case ranges(OpenDescriptor, suffix: [UInt8])
  }

  private let path: String
  private let source: Source

  /// The number of digits in the name of a file with a range.
  private static let prefixDigits = 5
  /// The number of digits of a whole hash.
  private static let digits = SHA1.size * 2
  /// The smallest number of digits in a line of one file.
  private static let fewestDigits = 10
  /// The number of lines that are checked when a list is opened.
  private static let samples = 256
  /// The number of lines that are checked in each file of a folder.
  private static let rangeSamples = 8

  /// Opens a list and checks its form.
  ///
  /// - Parameter path: The file or the folder. Links are followed.
  /// - Throws: `BreachListError`; `UserFileError` if it cannot be opened or read.
  package init(path: String) throws {
    self.path = path
    // A pipe without a writer would block without `O_NONBLOCK`.
    let file = unsafe keytree_openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0)
    guard file >= 0 else { throw UserFileError(action: "open", path: path, errno: errno) }
    let opened = OpenDescriptor(file)
    var status = stat()
    guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      source = .file(
        try SortedHashFile(
          file: opened, path: path, digits: Self.fewestDigits...Self.digits, samples: Self.samples))
      return
    }
    let suffixes = ["", ".txt"].map { Array($0.utf8) }
    let first = SecretSlice(
      SecretBytes(copying: [UInt8](repeating: UInt8(ascii: "0"), count: Self.prefixDigits)))
    for suffix in suffixes {
      guard try Self.range(first, suffix, in: opened, path) != nil else { continue }
      source = .ranges(opened, suffix: suffix)
      return
    }
    throw BreachListError.incomplete(path: path)
  }

  /// Searches a password. Several threads may search.
  ///
  /// - Parameter password: The bytes of the password.
  /// - Returns: The entry of the list; nil if the list does not have the password.
  /// - Throws: `BreachListError`; `UserFileError` if the list cannot be read.
  func breach(of password: borrowing SecretBytes) throws -> Breach? {
    let hash = SecretSlice(Self.upperCaseDigits(of: SHA1.digest(of: password)))
    let match: SortedHashFile.Match?
    switch source {
    case .file(let file): match = try file.match(hash.part(0..<file.digits))
    case .ranges(let folder, let suffix):
      let prefix = hash.part(0..<Self.prefixDigits)
      guard let range = try Self.range(prefix, suffix, in: folder, path) else {
        throw BreachListError.incomplete(path: path)
      }
      match = try range.match(hash.part(Self.prefixDigits..<Self.digits))
    }
    // The service adds entries with the count 0 to its answers, so that their size does not disclose the range.
    guard let match, match.count != 0 else { return nil }
    return Breach(count: match.count, isPrefix: isPrefix)
  }

  /// True if the lines have only the first digits of each hash.
  private var isPrefix: Bool {
    switch source {
    case .file(let file): file.digits < Self.digits
    case .ranges: false
    }
  }

  /// Opens the file of a range; nil if the folder does not have it.
  ///
  /// - Parameters:
  ///   - prefix: The first digits of the hash. They are as secret as the hash, so the name of the file is built in
  ///     wiped memory.
  ///   - suffix: The rest of the name.
  private static func range(
    _ prefix: SecretSlice, _ suffix: [UInt8], in folder: OpenDescriptor, _ path: String
  ) throws -> SortedHashFile? {
    var name = prefix.copy()
    for byte in suffix { name.append(byte) }
    name.append(0)
    let file = unsafe name.withBytes { name in
      guard let start = name.baseAddress else { return Int32(-1) }
      return unsafe keytree_openat(
        folder.number, start.assumingMemoryBound(to: CChar.self), O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0)
    }
    guard file >= 0 else {
      if errno == ENOENT { return nil }
      throw UserFileError(action: "open a file in", path: path, errno: errno)
    }
    let rest = digits - prefixDigits
    return try SortedHashFile(
      file: OpenDescriptor(file), path: path, digits: rest...rest, samples: rangeSamples)
  }

  private static func upperCaseDigits(of hash: borrowing SecretBytes) -> SecretBytes {
    var text = SecretBytes(capacity: hash.count * 2)
    unsafe hash.withBytes { bytes in
      for index in bytes.indices {
        let byte = unsafe bytes[index]
        text.append(digit(byte >> 4))
        text.append(digit(byte & 15))
      }
    }
    return text
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }
}
