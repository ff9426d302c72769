internal import CSystem
internal import Glibc

/// The remaining input of a program and the pipe to it.
struct InputFeed: ~Copyable {
  private var pipe: Descriptor
  private let bytes: [UInt8]
  private var given = 0
  /// The error number if the rest cannot be written; otherwise nil.
  private(set) var failure: Int32?

  /// Creates a feed. Without a pipe it has nothing to write.
  init(_ input: ProgramRun.Input, into pipe: consuming Descriptor) {
    if case .bytes(let bytes) = input { self.bytes = bytes } else { bytes = [] }
    self.pipe = pipe
    self.pipe.neverWait()
    if bytes.isEmpty { end() }
  }

  /// The descriptor to poll for writing; negative if the feed has ended or failed.
  var number: Int32 { failure == nil ? pipe.number : -1 }

  /// Writes as much as the pipe accepts now. Closes the pipe after the last byte, or if the read end is closed.
  ///
  /// The pipe stays open after an error, so that the program does not mistake incomplete input for complete input.
  mutating func feed() {
    let written = unsafe bytes.withUnsafeBytes { all in
      let rest = unsafe UnsafeRawBufferPointer(rebasing: all[given...])
      return unsafe keytree_write_quietly(pipe.number, rest.baseAddress, rest.count)
    }
    if written >= 0 {
      given += written
      if given == bytes.count { end() }
    } else if errno == EPIPE {
      end()
    } else if errno != EAGAIN && errno != EINTR {
      failure = errno
    }
  }

  /// Closes the pipe.
  mutating func end() { pipe.close() }
}
