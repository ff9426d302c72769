internal import CSystem
internal import Glibc

/// The rest of a program's input, and the pipe to it.
struct InputFeed: ~Copyable {
  private var pipe: Descriptor
  private let bytes: [UInt8]
  private var given = 0
  /// The error number if the rest cannot be written; otherwise nil.
  private(set) var failure: Int32?

  /// A feed without a pipe is over from the beginning.
  init(_ input: ProgramRun.Input, into pipe: consuming Descriptor) {
    if case .bytes(let bytes) = input { self.bytes = bytes } else { bytes = [] }
    self.pipe = pipe
    self.pipe.neverWait()
    if bytes.isEmpty { end() }
  }

  /// The descriptor to poll for writing; negative when the feed is over, or has failed.
  var number: Int32 { failure == nil ? pipe.number : -1 }

  /// Gives as much as the pipe takes now, and closes it after the last byte, or when nobody reads any more.
  ///
  /// After a failure the pipe stays open: the program must not take what it has for all there is.
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
