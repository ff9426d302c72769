internal import CGPGME
internal import KeyringModel

/// The status lines of one operation of libgpgme (GnuPG's doc/DETAILS).
///
/// libgpgme does not learn how gpg has ended. A gpg that was killed, or that could not read its input, looks like one that
/// had nothing more to say. So the lines must show that the operation was completed.
final class StatusReport {
  /// The statements about signatures.
  private(set) var statements = SignatureStatements()
  /// True if gpg has finished encrypting or decrypting, or found no data to do it with.
  private(set) var hasEnded = false
  /// True if gpg had the key for a message and has begun to read its content.
  private(set) var hasReachedContent = false
  /// True if gpg has found encrypted data inside the data that it was decrypting.
  private(set) var hasNestedMessage = false
  /// The keys that were imported or are unchanged.
  private(set) var imported: [Fingerprint] = []
  /// The counts at the end of an import; nil if it has not ended.
  private(set) var importCounts: ImportCounts?
  /// The number of keys that were exported; nil if the export has not ended.
  private(set) var exportCount: Int?
  /// The first report of an error of the system, such as a full disk; nil if there is none.
  private(set) var systemError: String?
  /// The size of the content that gpg has decrypted, if the message states it and gpg does not convert the content.
  private(set) var contentSize: Int?
  /// The last dialog that the agent has started for the operation; nil if there was none on this machine.
  private(set) var dialog: PinentryProcess?
  private var failure: String?
  private var isBinary = false
  private var hasBegunDecrypting = false
  private let cancellation: Cancellation?

  /// Creates an empty report.
  ///
  /// - Parameter cancellation: Ends a passphrase dialog that gpg reports; nil if it cannot be ended.
  init(_ cancellation: Cancellation?) { self.cancellation = cancellation }

  /// Takes in one status line.
  ///
  /// - Parameters:
  ///   - keyword: The keyword.
  ///   - arguments: The rest of the line.
  func read(_ keyword: String, _ arguments: String) {
    let words = [Substring(keyword)] + arguments.split(separator: " ", omittingEmptySubsequences: false)
    statements.read(words)
    if Self.isSystemError(words) { systemError = systemError ?? words.joined(separator: " ") }
    switch keyword {
    case "END_ENCRYPTION", "END_DECRYPTION", "NODATA": hasEnded = true
    case "BEGIN_DECRYPTION":
      hasNestedMessage = hasNestedMessage || hasBegunDecrypting && !hasEnded
      hasBegunDecrypting = true
    case "DECRYPTION_INFO": hasReachedContent = true
    // No message that is given to gpg can be decrypted with a passphrase, so this is about its content.
    case "NEED_PASSPHRASE_SYM": hasNestedMessage = true
    // The format of the content, and its size unless it is in parts.
    case "PLAINTEXT": isBinary = words[1] == "62"
    case "PLAINTEXT_LENGTH": if isBinary { contentSize = Int(words[1]) }
    case "IMPORT_OK": if words.count > 2, let key = Fingerprint(String(words[2])) { imported.append(key) }
    case "IMPORT_RES": importCounts = ImportCounts(words.dropFirst())
    case "EXPORT_RES": exportCount = words.count > 3 ? Int(words[3]) : nil
    // gpg reports `gpg-exit` if it ends with an error that it has not reported otherwise.
    case "FAILURE": failure = failure ?? "\(keyword) \(arguments)"
    // Other errors are about one recipient or one signature, and the result states what they mean.
    case "ERROR" where arguments.hasPrefix("proc_pkt."): failure = failure ?? "\(keyword) \(arguments)"
    case "PINENTRY_LAUNCHED":
      dialog = PinentryProcess(launchStatus: arguments)
      if let dialog { cancellation?.dialogStarted(dialog) }
    default: break
    }
  }

  /// Returns true for a report of an error that is not about keys or messages: its code is that of an `errno(3)`.
  private static func isSystemError(_ words: [Substring]) -> Bool {
    guard ["ERROR", "FAILURE"].contains(words[0]), words.count > 2 else { return false }
    // Some versions write the name of the code after it.
    return Int(words[2].prefix(while: \.isNumber)).map { $0 & SignatureStatements.systemError != 0 } ?? false
  }

  /// Checks that gpg has completed an operation that libgpgme reports as successful.
  ///
  /// - Throws: `incomplete`.
  func requireSuccess() throws(EngineError) {
    if let failure { throw .incomplete(detail: failure) }
  }

  static let callback: gpgme_status_cb_t = { hook, keyword, arguments in
    guard let hook = unsafe hook, let keyword = unsafe keyword else { return 0 }
    let report = unsafe Unmanaged<StatusReport>.fromOpaque(hook).takeUnretainedValue()
    report.read(unsafe String(cString: keyword), unsafe arguments.map { unsafe String(cString: $0) } ?? "")
    return 0
  }
}

/// The counts of an import, from the status line `IMPORT_RES`.
struct ImportCounts: Equatable {
  /// The number of keys that gpg has read.
  let read: Int
  /// The number of keys that are in the keyring now, or that gpg refused for a reason that it has reported.
  let explained: Int

  /// Reads the arguments of the line.
  ///
  /// - Returns: nil if the line is truncated.
  init?(_ words: ArraySlice<Substring>) {
    let numbers = words.compactMap { Int($0) }
    guard numbers.count >= 14 else { return nil }
    read = numbers[0]
    // No user id, imported, unchanged, new keys that were skipped, not imported, and keys of version 3. A known key with
    // new user ids, subkeys, signatures or revocations is counted only there, and a secret key as such.
    let refused = [1, 2, 4, 12, 13].map { numbers[$0] } + (numbers.count > 14 ? [numbers[14]] : [])
    explained = refused.reduce(0, +) + [5, 6, 7, 8, 9].map { numbers[$0] }.reduce(0, +)
  }
}
