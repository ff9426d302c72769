internal import CSystem
internal import Glibc

/// A child process, from its start until its status is taken. Its number cannot mean another process so long.
struct ChildWatch: ~Copyable {
  private let process: pid_t
  private let leadsGroup: Bool
  private let descriptor: Descriptor
  private let program: String

  /// Watches a child.
  ///
  /// - Parameters:
  ///   - process: Its number.
  ///   - run: What it was started for.
  init(_ process: pid_t, of run: ProgramRun) {
    (self.process, leadsGroup, program) = (process, run.group == .own, run.program)
    do throws(ProcessError) {
      descriptor = run.usesDescriptor ? try Descriptor.watching(process) : Descriptor()
    } catch {
      // An old kernel, or no descriptors left: the end is looked for every now and then.
      descriptor = Descriptor()
    }
    keytree_child_add(target)
  }

  deinit { keytree_child_remove(target) }

  /// The number for `kill(2)`: that of the group where the child leads one.
  private var target: pid_t { leadsGroup ? -process : process }

  /// The descriptor that becomes readable when the child has ended; negative where the kernel does not offer it.
  var number: Int32 { descriptor.number }

  /// A Boolean value that indicates whether the child has ended. Its status can still be taken.
  var hasEnded: Bool { state != .runs }

  /// Sends a signal to the child, and to its group where it has one.
  func signal(_ number: Int32) {
    // A number that is free again may be that of any process.
    if state != .isLost { kill(target, number) }
  }

  /// Tells the child to end. One that is stopped goes on, since it could not end otherwise.
  func terminate() {
    signal(SIGTERM)
    signal(SIGCONT)
  }

  private enum State { case runs, hasEnded, isLost }

  private var state: State {
    var facts = unsafe siginfo_t()
    // A failure means that another part of this process has taken the status.
    let options = WEXITED | WNOHANG | WNOWAIT
    guard unsafe waitid(P_PID, id_t(process), &facts, options) == 0 else { return .isLost }
    return unsafe facts.si_signo == 0 ? .runs : .hasEnded
  }

  /// Takes the status of a child that has ended, or waits for its end; `waitpid(2)`. To be called once.
  ///
  /// - Throws: `systemCall` with ECHILD when another part of this process has taken it.
  func status() throws(ProcessError) -> ProcessOutcome.Ending {
    var status: Int32 = 0
    // Another process can have the number as soon as the status is taken.
    if hasEnded { keytree_child_remove(target) }
    while unsafe waitpid(process, &status, 0) < 0 {
      guard errno == EINTR else { throw .systemCall(action: "wait for", path: program, errno: errno) }
    }
    // The macros of wait(2): the low seven bits are the signal, the next byte the status.
    let signal = status & 0x7F
    return signal == 0 ? .exited(status: status >> 8 & 0xFF) : .signaled(signal)
  }
}
