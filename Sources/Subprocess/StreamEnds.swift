internal import Glibc

/// The ends of a standard stream of a child: the child's end and, if the stream is a pipe, the parent's end.
struct StreamEnds: ~Copyable {
  /// The child's end.
  let child: Descriptor
  /// The parent's end of the pipe; not open if there is no pipe.
  let own: Descriptor

  /// Opens the ends of standard input.
  init(_ input: ProgramRun.Input) throws(ProcessError) {
    switch input {
    case .none:
      child = try Descriptor.opening("/dev/null", O_RDONLY)
      own = Descriptor()
    case .bytes:
      let pipe = try Pipe.make()
      child = pipe.readEnd
      own = pipe.writeEnd
    case .descriptor(let number):
      child = try Descriptor.copying(number)
      own = Descriptor()
    }
  }

  /// Opens the ends of standard output or standard error.
  init(_ output: ProgramRun.Output) throws(ProcessError) {
    switch output {
    case .discarded:
      child = try Descriptor.opening("/dev/null", O_WRONLY)
      own = Descriptor()
    case .collected, .lines:
      let pipe = try Pipe.make()
      child = pipe.writeEnd
      own = pipe.readEnd
    case .descriptor(let number):
      child = try Descriptor.copying(number)
      own = Descriptor()
    }
  }
}
