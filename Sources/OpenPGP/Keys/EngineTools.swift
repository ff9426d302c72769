internal import CGPGME
internal import FileSystem
internal import Glibc
internal import KeyringModel

/// The operations that create an engine home. Each starts a process.
struct EngineTools {
  /// The gpg to use.
  var program: Library.Program
  /// The gpgconf beside it.
  var gpgconf: Gpgconf
  /// Called for every process started.
  var processStarted: () -> Void

  /// Imports keys together.
  ///
  /// - Parameters:
  ///   - keys: Any number of keys.
  ///   - home: The GnuPG home.
  /// - Returns: The keys that are in the home now.
  /// - Throws: `incomplete` when gpg did not finish. A key that cannot be read causes no error, but is missing.
  func importKeys(_ keys: KeyContent, home: String) throws(EngineError) -> [Fingerprint] {
    let report = try importReport(of: [keys], home: home)
    guard report.importCounts != nil else { throw Self.unfinished }
    return report.imported
  }

  /// Lists every key of a home.
  ///
  /// - Parameter home: The GnuPG home.
  /// - Returns: The keys.
  /// - Throws: The error of libgpgme.
  func keys(home: String) throws(EngineError) -> [PublicKey] {
    let context = try Context(program: program, home: home, interaction: .never)
    return try context.keys(matching: nil, secretOnly: false, processStarted: processStarted)
  }

  /// Returns a key object.
  ///
  /// - Parameters:
  ///   - fingerprint: The primary fingerprint of a key that was imported into the home. Only a key with exactly this one
  ///     is returned.
  ///   - home: The GnuPG home.
  /// - Returns: The object.
  /// - Throws: `incomplete` if gpg does not list the key.
  func key(_ fingerprint: Fingerprint, home: String) throws(EngineError) -> KeyObject {
    // Not gpgme_get_key(3): it lists in its own context, which is not offline and starts gpg again to get its version.
    let context = try Context(program: program, home: home, interaction: .never)
    processStarted()
    var found: gpgme_key_t?
    guard unsafe gpgme_op_keylist_start(context.pointer, fingerprint.text, 0) == 0,
      unsafe gpgme_op_keylist_next(context.pointer, &found) == 0, let found = unsafe found
    else { throw .incomplete(detail: "it did not list the key \(fingerprint.text)") }
    let key = unsafe KeyObject(found)
    _ = unsafe gpgme_op_keylist_end(context.pointer)
    guard let text = unsafe found.pointee.fpr, unsafe String(cString: text) == fingerprint.text else {
      throw .incomplete(detail: "it listed another key than \(fingerprint.text)")
    }
    return key
  }

  /// Imports key files separately, so that a damaged one does not keep gpg from reading the others. One process reads
  /// several hundred of them.
  ///
  /// - Parameters:
  ///   - files: The keys in each file.
  ///   - home: The GnuPG home.
  /// - Returns: The keys that are in the home now.
  /// - Throws: `incomplete` when gpg did not finish, or did not report the reason why it has not imported a key. A key that
  ///   cannot be read causes no error, but is missing.
  func importKeys(eachOf files: [KeyContent], home: String) throws(EngineError) -> [Fingerprint] {
    var imported: [Fingerprint] = []
    var rest = files[...]
    while !rest.isEmpty {
      let portion = rest.prefix(Self.portion)
      rest = rest.dropFirst(portion.count)
      let report = try importReport(of: portion, home: home)
      let ordinary = portion.count { KeyPackets.isOrdinary($0.bytes) }
      guard let counts = report.importCounts, counts.read >= ordinary, counts.explained >= counts.read else {
        throw Self.unfinished
      }
      imported += report.imported
    }
    return imported
  }

  private static var unfinished: EngineError { .incomplete(detail: "it did not finish importing keys") }

  /// Imports files with one process, and returns what gpg says about them.
  private func importReport(
    of files: ArraySlice<KeyContent>, home: String
  ) throws(EngineError) -> StatusReport {
    let folder = "\(home)/import"
    try PrivateFolder.make(folder)
    defer {
      FolderRemoval.removeContent(of: folder)
      _ = unsafe rmdir(folder)
    }
    var names: [String] = []
    for (number, keys) in files.enumerated() {
      let name = "\(folder)/\(number)"
      try SmallFile.write(keys.bytes, to: name, isSynchronized: false)
      names.append(name)
    }
    let report = StatusReport(nil)
    for line in try run(["--status-fd", "1", "--import", "--"] + names, home: home).split(
      separator: UInt8(ascii: "\n"))
    {
      let words = String(decoding: line, as: UTF8.self).split(separator: " ", maxSplits: 2)
      if words.count == 3, words[0] == "[GNUPG:]" { report.read(String(words[1]), String(words[2])) }
    }
    return report
  }

  /// The maximum number of files for one process, limited by the length of a command line.
  private static let portion = 512

  private func run(_ arguments: [String], home: String) throws(EngineError) -> [UInt8] {
    processStarted()
    let options = ["--homedir", home, "--batch", "--no-tty", "--quiet", "--no-autostart"]
    return try ProgramCall.output(of: program.path, options + arguments)
  }
}

/// A key object of libgpgme.
@safe
struct KeyObject: ~Copyable {
  let pointer: gpgme_key_t
  private let id: UnsafeMutablePointer<CChar>?

  init(_ pointer: gpgme_key_t) {
    unsafe self.pointer = unsafe pointer
    unsafe id = pointer.pointee.subkeys?.pointee.keyid
  }

  /// Makes gpg sign with a certain key. libgpgme 1.18 gives gpg the id of the first subkey in this struct, whose members are
  /// public.
  ///
  /// - Parameter name: The name of the key for gpg.
  /// - Throws: `unusableKey` if the object has no subkey.
  func setSigner(_ name: String, of person: Fingerprint) throws(EngineError) {
    guard let subkey = unsafe pointer.pointee.subkeys else { throw .unusableKey(person, .missing) }
    unsafe subkey.pointee.keyid = strdup(name)
  }

  deinit {
    // libgpgme frees its own text only as a part of the struct.
    if let subkey = unsafe pointer.pointee.subkeys, unsafe subkey.pointee.keyid != id {
      unsafe free(subkey.pointee.keyid)
      unsafe subkey.pointee.keyid = unsafe id
    }
    unsafe gpgme_key_unref(pointer)
  }
}
