internal import Glibc

/// A standard stream of a child: the end that it gets and, where there is a pipe, the end that stays here.
struct StreamEnds: ~Copyable {
  /// The end of the child.
  let child: Descriptor
  /// The other end of the pipe; not open when there is none.
  let own: Descriptor

  /// The ends of standard input.
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

  /// The ends of standard output or standard error.
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
