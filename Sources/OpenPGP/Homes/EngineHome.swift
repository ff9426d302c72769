internal import Glibc
internal import KeyringModel

/// A private GnuPG home that has the public keys of a keyring's people and no other keys.
///
/// It is a cache. Its name is a digest of its input, so another set of keys has another folder. A finished home never
/// changes, except for the default signer in `gpg.conf`, which is replaced when the user's keyring changes. A home that
/// differs from what was written is replaced as a whole.
final class EngineHome: Sendable {
  /// The version of the layout. Raise it when the content of homes changes, so that old homes are no longer used.
  static let layout = 4

  /// The path of the home.
  let path: String
  /// The people's keys.
  let table: KeyTable
  private let seal: HomeSeal
  // Held as long as this object exists, so that no process removes a home in use.
  private let lock: HomeLock

  /// Loads a finished home.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - files: The people's key files.
  ///   - lock: Its lock, which must be held.
  /// - Returns: nil if the home is not finished, differs from what was written, or is older than the last start of the
  ///   machine. It must be made again then.
  convenience init?(path: String, files: [Fingerprint: [UInt8]], lock: HomeLock) {
    guard let seal = HomeSeal(of: path),
      let table = SmallFile.read(Self.table(path), limit: 16 << 20), let keys = KeyTableFile.decode(table)
    else { return nil }
    self.init(path: path, keys: keys, files: files, seal: seal, lock: lock)
  }

  /// Describes a home that was just made.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - keys: The people's keys, as gpg lists them.
  ///   - files: The people's key files.
  ///   - seal: The seal of the home.
  ///   - lock: The lock of the home, which must be held.
  init(path: String, keys: [PublicKey], files: [Fingerprint: [UInt8]], seal: HomeSeal, lock: HomeLock) {
    self.path = path
    self.table = KeyTable(keys, files: files)
    self.seal = seal
    self.lock = lock
  }

  /// The file that redirects gpg to the user's agent.
  var redirect: AgentRedirect { seal.redirect }

  /// True if the folder still exists. A logout or a clean-up of temporary files may remove it while this process runs.
  var exists: Bool { unsafe access(HomeSeal.path(in: path), F_OK) == 0 }

  /// True if nothing in the folder differs from what was written. Costs about 25 system calls.
  var isIntact: Bool { seal.isIntact(path) }

  /// Returns true if the home redirects from one path to one socket.
  ///
  /// - Parameters:
  ///   - redirect: The file where gpg expects the socket of the home.
  ///   - socket: The socket of the user's agent.
  func redirects(from redirect: AgentRedirect, to socket: String) -> Bool {
    seal.redirect == redirect && seal.socket == socket
  }

  /// The key that signs when libgpgme gets no signer.
  var defaultSigner: DefaultSigner? {
    SmallFile.read(path + "/gpg.conf", limit: 8192).flatMap(EngineConfiguration.signer(in:))
  }

  /// Sets the default signer. A signer for libgpgme needs a key object, which costs a process for every message. A
  /// line in gpg.conf costs nothing. The first person stays the default.
  ///
  /// - Parameter signer: The signer.
  /// - Throws: `unsafeEngine` when the file cannot be written.
  func adoptDefaultSigner(_ signer: DefaultSigner) throws(EngineError) {
    try SmallFile.write(EngineConfiguration.bytes(signer: signer), to: path + "/gpg.conf")
  }

  /// The version of the gpg that made the home; nil if it is not known.
  var engineVersion: [UInt8]? { SmallFile.read(Self.version(path), limit: 64) }

  /// Returns the path of the file with the version of the gpg that made a home.
  ///
  /// - Parameter path: The folder of the home.
  /// - Returns: The path of the file.
  static func version(_ path: String) -> String { path + "/gpg-version" }

  /// Returns the path of the file with the people's keys.
  ///
  /// - Parameter path: The folder of the home.
  static func table(_ path: String) -> String { path + "/keytree-keys" }
}
