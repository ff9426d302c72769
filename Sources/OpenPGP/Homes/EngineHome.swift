internal import Glibc
internal import KeyringModel

/// A private GnuPG home that holds the public keys of a keyring's people, and nothing else.
///
/// It is a cache: its name is a digest of everything that went into it, so that another set of keys is
/// another folder, and the keys of a finished one never change. What may change in it is who signs by default
/// (`gpg.conf`, once) and the way to the user's agent (the redirect, and the stamp that says where it is); each is
/// one file, replaced as a whole.
final class EngineHome: Sendable {
  /// Raised when the content of homes changes, so that old ones are not used any more.
  static let layout = 1

  /// The folder.
  let path: String
  /// What leads gpg to the user's agent.
  let redirect: AgentRedirect
  /// The people's keys.
  let table: KeyTable
  // Held as long as this object lives: nobody removes a home in use.
  private let lock: HomeLock

  /// Loads a finished home.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - lock: Its lock, taken.
  /// - Returns: nil when it is not finished or cannot be read, or was made before the machine was last started, so it
  ///   has to be made.
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

  /// Whether the folder is still there. A logout or a clean-up of temporary files may remove it under a
  /// process that lives on.
  var exists: Bool { unsafe access(Self.stamp(path), F_OK) == 0 }

  /// Who signs when libgpgme names nobody.
  var defaultSigner: Fingerprint? {
    SmallFile.read(path + "/gpg.conf", limit: 8192).flatMap(EngineConfiguration.signer(in:))
  }

  /// Makes someone the default signer. Naming him to libgpgme needs a key object, which costs a process for
  /// every message; a line in gpg.conf costs nothing. Whoever comes first keeps the place.
  ///
  /// - Parameter signer: The primary fingerprint.
  /// - Throws: `unsafeEngine` when the file cannot be written.
  func adoptDefaultSigner(_ signer: Fingerprint) throws(EngineError) {
    try SmallFile.write(EngineConfiguration.bytes(signer: signer), to: path + "/gpg.conf")
  }

  /// The file that says that a home is finished. It is written last.
  ///
  /// - Parameter path: The folder of the home.
  /// - Returns: The path of the file.
  static func stamp(_ path: String) -> String { path + "/ready" }

  /// What stands in that file.
  ///
  /// It names the start of the machine. A home is not flushed to disk: below a cache folder a power cut may keep this file
  /// and lose those that were written before it.
  ///
  /// - Parameter redirect: What leads gpg to the user's agent.
  /// - Returns: The file's bytes.
  static func stampBytes(_ redirect: AgentRedirect) -> [UInt8] {
    Array("\(stampStart)\(bootID)\nredirect \(redirect.path)\n".utf8)
  }

  /// Reads the file back, from whatever start of the machine it is.
  ///
  /// - Parameter bytes: The file's bytes.
  /// - Returns: nil when it is not as it was written.
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

  /// What tells one start of the machine from another; `random(4)`. Empty if it cannot be read.
  private static let bootID: String = {
    let file = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
    return String(decoding: bytes.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }()
}
