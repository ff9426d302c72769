package import Keyring
internal import OpenPGP

/// A store with real GnuPG in its own folders.
package final class GnuPGStore: Sendable {
  package let gnupg: GnuPGHome
  private let scratch = ScratchFolder()
  private let clock = Clock()
  /// The folder of the store.
  package var path: String { "\(scratch.path)/store" }

  /// - Parameter gnupg: The home with the owner's keys. The store keeps it until the store itself is released.
  package init(_ gnupg: GnuPGHome) { self.gnupg = gnupg }

  /// The facts about this machine for the library.
  package var host: HostContext {
    let locations = gnupg.locations
    var host = HostContext(
      gnupgHome: locations.userHome, engineBase: locations.runtimeBase, stateBase: "\(scratch.path)/state",
      searchPath: locations.searchPath, clock: clock.now)
    // Tests commit changes themselves.
    host.commitsChanges = false
    return host
  }

  package func create(owner: GnuPGKey = .alice) throws -> Keyring {
    try Keyring.create(at: path, owner: owner.fingerprint, host: host)
  }

  package func open() throws -> Keyring { try Keyring.open(at: path, host: host) }

  package func tree() throws -> FileTree { try FileTree(at: path) }
}
