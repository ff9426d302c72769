internal import CSystem
internal import Glibc

/// The terminal on which GnuPG may ask for a passphrase.
///
/// gpg and libgpgme check only standard output, so a pinentry would find no terminal in `keytree get X | cat`. GnuPG's
/// manual asks users to export `GPG_TTY`; this does it for them, before any thread exists.
package enum PromptTerminal {
  /// Sets `GPG_TTY` unless it is already set or there is no terminal, and remembers the settings of the terminal for the
  /// case that the user interrupts a dialog.
  package static func announce() {
    if unsafe getenv("GPG_TTY") == nil, let name = name() { unsafe setenv("GPG_TTY", name, 1) }
    if let path = unsafe getenv("GPG_TTY") { unsafe keytree_dialog_terminal(path) }
  }

  /// Ends the dialogs for which another thread still waits. A command that reacts to signals itself, such as a service,
  /// calls this before its process ends; otherwise the dialogs would stay open.
  package static func endDialogs() { keytree_dialogs_end() }

  private static func name() -> String? {
    for descriptor in Int32(0)...2 where isatty(descriptor) == 1 {
      if let name = unsafe ttyname(descriptor) { return unsafe String(cString: name) }
    }
    // All three may be redirected while the session still has a terminal. The name `/dev/tty` does not help a pinentry,
    // which belongs to another session, so this looks up the name of the device.
    let terminal = unsafe open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { return nil }
    defer { close(terminal) }
    var device: UInt32 = 0
    let getDevice: UInt = 0x8004_5432  // TIOCGDEV, ioctl_tty(2)
    guard unsafe ioctl(terminal, getDevice, &device) == 0 else { return nil }
    let (major, minor) = (device >> 8 & 0xFFF, device & 0xFF | device >> 12 & 0xFFF00)
    switch major {
    case 136: return "/dev/pts/\(minor)"
    case 4: return "/dev/tty\(minor)"
    default: return nil
    }
  }
}
