internal import CSystem
internal import FileSystem
internal import Glibc

/// The process of a dialog that gpg-agent on this machine has started.
///
/// As long as this object exists, a signal that ends the command `keytree` also ends the dialog. GnuPG 2.2 does not end
/// it: it would go on reading the terminal, and take what the user types for the shell.
final class PinentryProcess: Sendable {
  /// Refers to the process, and never to one that gets the same id later.
  private let descriptor: Int32

  /// Creates the process from the arguments of the status `PINENTRY_LAUNCHED` (doc/DETAILS of GnuPG), which start with
  /// the process id.
  ///
  /// A forwarded agent reports a process id of the remote machine. So this returns nil unless the process is a descendant
  /// of a process named gpg-agent; `pinentry-program` can be a script that starts the pinentry. It also returns nil if
  /// `/proc` hides the agent (`hidepid`). Such a dialog stays open until the user closes it.
  ///
  /// - Parameter arguments: The arguments.
  init?(launchStatus arguments: String) {
    let digits = arguments.prefix { $0.isWholeNumber && $0.isASCII }
    // Never a process group.
    guard let number = pid_t(digits), number > 1 else { return nil }
    let descriptor = keytree_process_descriptor(number)
    guard descriptor >= 0 else { return nil }
    guard Self.isOfAgent(number) else {
      close(descriptor)
      return nil
    }
    self.descriptor = descriptor
    keytree_dialog_add(descriptor)
  }

  deinit {
    keytree_dialog_remove(descriptor)
    close(descriptor)
  }

  private static func isOfAgent(_ number: pid_t) -> Bool {
    var ancestor = ProcessStatus(of: number)?.parent
    while let process = ancestor, let status = ProcessStatus(of: process) {
      if status.name.elementsEqual("gpg-agent".utf8) { return true }
      ancestor = status.parent
    }
    return false
  }

  /// Asks the dialog to end, in the way in which gpg-agent does, and returns at once.
  func interrupt() { _ = keytree_process_signal(descriptor, SIGINT) }

  /// Ends the dialog if it is still shown, and waits for its end for at most one second.
  func end() { keytree_dialog_end(descriptor) }
}
