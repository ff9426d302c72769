import Foundation
import TestSupport

/// A pinentry for tests that answers without asking the user.
enum Pinentry {
  /// The answer when a passphrase is requested.
  enum Answer: String {
    case cancel
    case passphrase
    /// The pinentry has no terminal to ask on, as in cron.
    case noTerminal = "no-terminal"
  }

  /// Writes the program into a folder.
  ///
  /// - Returns: The path of the program, for `pinentry-program` in gpg-agent.conf.
  static func write(_ answer: Answer, in folder: String) throws -> String {
    let path = folder + "/pinentry"
    let reply =
      switch answer {
      // GPG_ERR_CANCELED (99) from GPG_ERR_SOURCE_PINENTRY (5).
      case .cancel: "echo 'ERR 83886179 Operation cancelled <Pinentry>'"
      // GPG_ERR_ENOTTY (32870) from GPG_ERR_SOURCE_PINENTRY.
      case .noTerminal: "echo 'ERR 83918950 Inappropriate ioctl for device <Pinentry>'"
      case .passphrase: "echo 'D \(GnuPGKey.passphrase)'; echo OK"
      }
    let script = """
      #!/bin/sh
      echo 'OK ready'
      while read -r command rest; do
        case $command in
          GETPIN) \(reply) ;;
          BYE) echo OK; exit 0 ;;
          *) echo OK ;;
        esac
      done

      """
    try ExecutableFile.write(script, to: path)
    return path
  }
}
