internal import Glibc

/// The output of a program on one of its streams and the pipe from it.
struct OutputReader: ~Copyable {
  /// The collected bytes; if lines are read, the beginning of the incomplete line.
  private(set) var bytes: [UInt8] = []
  /// True if the output exceeded the limit. The rest is discarded.
  private(set) var isOverLimit = false
  /// The error number if the rest cannot be read; otherwise nil.
  private(set) var failure: Int32?
  private var pipe: Descriptor
  private let stream: ProcessStream
  private let takesLines: Bool
  /// The limit of the stream or of a line in bytes; 0 if nothing is read.
  let limit: Int

  /// The largest size of a pipe buffer that an unprivileged process can set (`pipe(7)`).
  private static let largestPipe = 1 << 20

  /// Creates a reader. Without a pipe it is at its end.
  init(_ stream: ProcessStream, as output: ProgramRun.Output, from pipe: consuming Descriptor) {
    self.stream = stream
    self.pipe = pipe
    switch output {
    case .collected(let limit): (takesLines, self.limit) = (false, limit)
    case .lines(let limit): (takesLines, self.limit) = (true, limit)
    case .discarded, .descriptor: (takesLines, limit) = (false, 0)
    }
    self.pipe.neverWait()
  }

  /// The descriptor to poll for reading; negative if the stream has ended.
  var number: Int32 { pipe.number }

  /// True if the stream was read to its end.
  var hasEnded: Bool { !pipe.isOpen }

  /// True if all output was collected.
  var isComplete: Bool { hasEnded && !isOverLimit }

  /// Reads the available bytes with one call.
  ///
  /// - Returns: The number of bytes; 0 at the end of the stream, or if none are available.
  @discardableResult
  mutating func read(
    with buffer: UnsafeMutableRawBufferPointer, eachLine: (ProcessStream, ArraySlice<UInt8>) -> Void
  ) -> Int {
    guard pipe.isOpen else { return 0 }
    var count = -1
    repeat {
      count = unsafe Glibc.read(pipe.number, buffer.baseAddress, buffer.count)
    } while count < 0 && errno == EINTR
    if count > 0 {
      unsafe take(UnsafeRawBufferPointer(rebasing: buffer[..<count]), eachLine)
      return count
    }
    if count < 0, errno == EAGAIN { return 0 }
    if count < 0 { failure = errno }
    pipe.close()
    return 0
  }

  /// Reads the rest of the pipe after the program has ended, and passes on an incomplete last line.
  ///
  /// The rest includes everything that the program itself wrote, because a pipe preserves the order of writes.
  mutating func finish(
    with buffer: UnsafeMutableRawBufferPointer, eachLine: (ProcessStream, ArraySlice<UInt8>) -> Void
  ) {
    var taken = 0
    while taken < Self.largestPipe {
      let count = unsafe read(with: buffer, eachLine: eachLine)
      if count == 0 { break }
      taken += count
    }
    if takesLines, !isOverLimit, !bytes.isEmpty { eachLine(stream, bytes[...]) }
    if takesLines { bytes = [] }
  }

  private mutating func take(
    _ new: UnsafeRawBufferPointer, _ eachLine: (ProcessStream, ArraySlice<UInt8>) -> Void
  ) {
    if isOverLimit { return }
    var rest = unsafe new[...]
    while takesLines, let end = unsafe rest.firstIndex(of: UInt8(ascii: "\n")) {
      unsafe append(rest[..<end])
      if isOverLimit { return }
      eachLine(stream, bytes[...])
      bytes.removeAll(keepingCapacity: true)
      unsafe rest = rest[(end + 1)...]
    }
    unsafe append(rest)
  }

  private mutating func append(_ new: Slice<UnsafeRawBufferPointer>) {
    if unsafe bytes.count + new.count > limit {
      isOverLimit = true
      bytes = []
    } else {
      unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: new))
    }
  }
}
