import Foundation
import Secrets
@testable import Interchange
@testable import KeytreeCLI

/// A password store made by `pass`, with a GnuPG home that contains its throw-away key.
///
/// The path of the folder is short, because the path of the agent's socket in it can have at most 108 bytes.
final class ImportPassStore {
  /// The store itself.
  let path: String
  private let folder: URL
  private let home: URL

  static let fixture = ImportFixtures.folder.appending(path: "pass")

  /// A Boolean value that indicates whether `pass` is installed.
  static let isPassInstalled = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .contains { FileManager.default.isExecutableFile(atPath: "\($0)/pass") }

  /// Returns the committed store.
  static func committed() throws -> ImportPassStore {
    let store = try ImportPassStore(path: fixture.appending(path: "store").path)
    try FileManager.default.createDirectory(
      at: store.home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let key = fixture.appending(path: "keys/ours.secret.asc").path
    _ = try store.run("gpg", "--batch", "--quiet", "--import", key)
    return store
  }

  /// Returns a store that the installed `pass` makes now.
  ///
  /// - Precondition: ``isPassInstalled``.
  static func fresh() throws -> ImportPassStore {
    let store = try ImportPassStore(path: nil)
    let made = try store.run(fixture.appending(path: "make-store").path, store.folder.path)
    guard made.status == 0 else { throw Failure(text: String(decoding: made.errors, as: UTF8.self)) }
    return store
  }

  struct Failure: Error {
    var text: String
  }

  private init(path: String?) throws {
    folder = URL(filePath: "/tmp/kt-\(UInt32.random(in: 0...UInt32.max))")
    home = folder.appending(path: "home")
    self.path = path ?? folder.appending(path: "store").path
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit {
    _ = try? run("gpgconf", "--kill", "gpg-agent")  // An agent that never ran cannot be stopped.
    try? FileManager.default.removeItem(at: folder)  // A leftover folder is only in /tmp.
  }

  /// Decrypts an item. Returns nil if gpg fails.
  func plaintext(of ciphertext: [UInt8]) throws -> SecretBytes? {
    let file = folder.appending(path: "item.gpg")
    try Data(ciphertext).write(to: file)
    let result = try run("gpg", "--batch", "--quiet", "--decrypt", file.path)
    return result.status == 0 ? SecretBytes(copying: result.output) : nil
  }

  /// Returns the output of `pass show`; nil if it fails.
  func show(_ item: String) throws -> [UInt8]? {
    let result = try run("env", "PASSWORD_STORE_DIR=\(path)", "pass", "show", item)
    return result.status == 0 ? Array(result.output) : nil
  }

  /// Plans the import of the whole store in the same way as the command.
  func draft() throws -> ImportDraft {
    let tree = try PassTree(path: path)
    let listing = try tree.scan()
    var draft = listing.draft
    for entry in listing.entries {
      if let plaintext = try plaintext(of: tree.ciphertext(of: entry)) {
        draft.append(PassImport.plan(entry, plaintext: plaintext))
      } else {
        draft.append(PassImport.unreadable(entry, reason: "no key"))
      }
    }
    return draft
  }

  @discardableResult
  private func run(_ command: String...) throws -> (status: Int32, output: Data, errors: Data) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    var environment = ProcessInfo.processInfo.environment
    environment["GNUPGHOME"] = home.path
    process.environment = environment
    let output = Pipe()
    process.standardOutput = output
    // Errors go to a file, so that no pipe fills up while the other one is read.
    let errors = folder.appending(path: "errors")
    try Data().write(to: errors)
    process.standardError = try FileHandle(forWritingTo: errors)
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, data, try Data(contentsOf: errors))
  }
}
