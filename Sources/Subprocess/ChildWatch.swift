internal import CSystem
internal import Glibc

/// A child process, from its start until its status is collected. The system does not reuse its process id before that.
struct ChildWatch: ~Copyable {
  private let process: pid_t
  private let leadsGroup: Bool
  private let descriptor: Descriptor
  private let program: String

  /// Watches a child.
  ///
  /// - Parameters:
  ///   - process: The process id.
  ///   - run: The run that started it.
  init(_ process: pid_t, of run: ProgramRun) {
    (self.process, leadsGroup, program) = (process, run.group == .own, run.program)
    keytree_child_add(leadsGroup ? -process : process)
    do throws(ProcessError) {
      descriptor = run.usesDescriptor ? try Descriptor.watching(process) : Descriptor()
    } catch {
      // An old kernel, or no free descriptors: `Exchange` then polls for the end of the child.
      descriptor = Descriptor()
    }
  }

  deinit { keytree_child_remove(target) }

  /// The number for `kill(2)`: that of the group where the child leads one.
  private var target: pid_t { leadsGroup ? -process : process }

  /// The descriptor that becomes readable when the child has ended; negative where the kernel does not offer it.
  var number: Int32 { descriptor.number }

  /// True if the child has ended. Does not collect its status.
  var hasEnded: Bool { state != .runs }

  /// Sends a signal to the child, or to its process group if it leads one.
  func signal(_ number: Int32) {
    // After its status was collected, the process id may belong to another process.
    if state != .isLost { kill(target, number) }
  }

  /// Asks the child to end. Also continues a stopped child, which could not end otherwise.
  func terminate() {
    signal(SIGTERM)
    signal(SIGCONT)
  }

  private enum State { case runs, hasEnded, isLost }

  private var state: State {
    var facts = unsafe siginfo_t()
    // The call fails if another part of this process has collected the status.
    let options = WEXITED | WNOHANG | WNOWAIT
    guard unsafe waitid(P_PID, id_t(process), &facts, options) == 0 else { return .isLost }
    return unsafe facts.si_signo == 0 ? .runs : .hasEnded
  }

  /// Waits for the end of the child and collects its status with `waitpid(2)`. Must be called only once.
  ///
  /// - Throws: `systemCall` with ECHILD if another part of this process has collected it.
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
