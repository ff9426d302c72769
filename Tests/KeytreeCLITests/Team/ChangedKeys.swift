import Foundation
import KeyringModel
import TestSupport
import Testing

/// What the owners of keys do with GnuPG, for tests of `group refresh` and `group replace`.
extension TeamMachines {
  /// Changes a person's key on their machine.
  ///
  /// - Parameters:
  ///   - commands: The lines for `gpg --edit-key`.
  ///   - time: The time that GnuPG is told, such as `20240301T000000`; nil for the real one.
  func edit(_ person: GnuPGKey, _ commands: [String], at time: String? = nil) throws {
    let faked = time.map { ["--faked-system-time", "\($0)!"] } ?? []
    try gnupg(person).run(
      faked + [
        "--pinentry-mode", "loopback", "--passphrase", "", "--command-fd", "0", "--expert", "--edit-key",
        person.fingerprint.text,
      ], input: Array((commands + ["save", ""]).joined(separator: "\n").utf8))
  }

  /// Runs a short command of gpg, such as `--quick-add-key`, on a person's machine.
  func change(_ person: GnuPGKey, _ words: [String], at time: String? = nil) throws {
    let faked = time.map { ["--faked-system-time", "\($0)!"] } ?? []
    try gnupg(person).run(faked + ["--pinentry-mode", "loopback", "--passphrase", ""] + words)
  }

  func gnupg(_ person: GnuPGKey) throws -> GnuPGHome { try #require(worlds[person]).gnupg }

  /// Exports a person's key to a file that others can import.
  func export(_ person: GnuPGKey, _ options: [String] = []) throws -> String {
    let bytes = try gnupg(person).run(["--armor"] + options + ["--export", person.fingerprint.text])
    let path = "\(hub)-\(person.rawValue)-\(UInt32.random(in: 0...UInt32.max)).asc"
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return path
  }

  /// Imports a person's key as it is now into the GnuPG keyring of another person.
  func give(_ key: GnuPGKey, to person: GnuPGKey) throws {
    try gnupg(person).run(["--import", try export(key)])
  }
}
