internal import Glibc
internal import KeyringModel

/// A private GnuPG home that has the public keys of a keyring's people and no other keys.
///
/// It is a cache. Its name is a digest of its input, so another set of keys has another folder, and the keys of a
/// finished home never change. Only the default signer (`gpg.conf`, once) and the connection to the user's agent (the
/// redirect, and the stamp with its path) can change. Each of these is one file that is replaced as a whole.
final class EngineHome: Sendable {
  /// The version of the layout. Raise it when the content of homes changes, so that old homes are no longer used.
  static let layout = 1

  /// The path of the home.
  let path: String
  /// The file that redirects gpg to the user's agent.
  let redirect: AgentRedirect
  /// The people's keys.
  let table: KeyTable
  // Held as long as this object exists, so that no process removes a home in use.
  private let lock: HomeLock

  /// Loads a finished home.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - lock: Its lock, which must be held.
  /// - Returns: nil if the home is not finished, cannot be read, or is older than the last start of the machine. It
  ///   must be made again then.
  init?(path: String, lock: HomeLock) {
    guard let bytes = SmallFile.read(Self.stamp(path), limit: 8192),
      let redirect = Self.redirect(inStamp: bytes), bytes == Self.stampBytes(redirect),
      let table = SmallFile.read(path + "/keytree-keys", limit: 16 << 20),
      let keys = KeyTableFile.decode(table)
    else { return nil }
    self.path = path
    self.redirect = redirect
    self.table = KeyTable(keys)
    self.lock = lock
  }

  /// True if the folder still exists. A logout or a clean-up of temporary files may remove it while this process runs.
  var exists: Bool { unsafe access(Self.stamp(path), F_OK) == 0 }

  /// The key that signs when libgpgme gets no signer.
  var defaultSigner: Fingerprint? {
    SmallFile.read(path + "/gpg.conf", limit: 8192).flatMap(EngineConfiguration.signer(in:))
  }

  /// Sets the default signer. A signer for libgpgme needs a key object, which costs a process for every message. A
  /// line in gpg.conf costs nothing. The first signer stays the default.
  ///
  /// - Parameter signer: The primary fingerprint.
  /// - Throws: `unsafeEngine` when the file cannot be written.
  func adoptDefaultSigner(_ signer: Fingerprint) throws(EngineError) {
    try SmallFile.write(EngineConfiguration.bytes(signer: signer), to: path + "/gpg.conf")
  }

  /// Returns the path of the file that marks a home as finished. It is written last.
  ///
  /// - Parameter path: The folder of the home.
  /// - Returns: The path of the file.
  static func stamp(_ path: String) -> String { path + "/ready" }

  /// Returns the content of that file.
  ///
  /// It has the boot id of the machine, because a home is not flushed to disk. In a cache folder a power cut may keep
  /// this file and lose files that were written before it.
  ///
  /// - Parameter redirect: The file that redirects gpg to the user's agent.
  /// - Returns: The file's bytes.
  static func stampBytes(_ redirect: AgentRedirect) -> [UInt8] {
    Array("\(stampStart)\(bootID)\nredirect \(redirect.path)\n".utf8)
  }

  /// Parses the content of that file, with any boot id.
  ///
  /// - Parameter bytes: The file's bytes.
  /// - Returns: The redirect; nil if the content is not valid.
  static func redirect(inStamp bytes: [UInt8]) -> AgentRedirect? {
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.hasPrefix(stampStart), text.hasSuffix("\n") else { return nil }
    let rest = text.dropFirst(stampStart.count).drop { $0 != "\n" }
    let name = "\nredirect "
    guard rest.hasPrefix(name) else { return nil }
    let redirect = AgentRedirect(path: String(rest.dropFirst(name.count).dropLast()))
    return redirect.path.hasPrefix("/") ? redirect : nil
  }

  private static let stampStart = "keytree-engine \(layout)\nboot "

  /// The boot id of the machine, as described in `random(4)`. Empty if it cannot be read.
  private static let bootID: String = {
    let file = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
    return String(decoding: bytes.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }()
}
