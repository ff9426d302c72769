internal import CGPGME
internal import Encoding
internal import FileSystem
internal import Glibc
internal import KeyringModel

extension Engine {
  /// The number of messages that one process verifies.
  private static let portion = 512

  package func verifyMessages(_ messages: [[UInt8]]) throws(EngineError) -> [SignatureFact?] {
    // gpg gets only messages of the form whose content this program can read.
    let readable = messages.indices.filter { SignedMessage(messages[$0]) != nil }
    var facts = [SignatureFact?](repeating: nil, count: messages.count)
    var rest = readable[...]
    while !rest.isEmpty {
      let portion = Array(rest.prefix(Self.portion))
      rest = rest.dropFirst(portion.count)
      let found = try withHome { session throws(EngineError) in
        portion.count == 1
          ? [try verifyMessage(messages[portion[0]], session)]
          : try verifyFiles(portion.map { messages[$0] }, session)
      }
      for (index, fact) in zip(portion, found) { facts[index] = fact }
    }
    return facts
  }

  /// Verifies one message in memory, without files.
  private func verifyMessage(_ message: [UInt8], _ session: Session) throws(EngineError) -> SignatureFact? {
    let context = try Context(program: session.program, home: session.home.path, interaction: .never)
    counter.processStarted()
    let code = try unsafe message.span.bytes.withUnsafeBytes { message throws(EngineError) in
      let input = try unsafe DataObject(reading: message, isSensitive: false)
      let output = try DataObject()
      let (source, target) = unsafe (input.pointer, output.pointer)
      return unsafe context.run { context in unsafe gpgme_op_verify(context, source, nil, target) }
    }
    switch gpgme_err_code(code) {
    case GPG_ERR_NO_ERROR:
      let facts = context.signatures(table: session.home.table)
      return facts.count == 1 ? facts[0] : nil
    case GPG_ERR_NO_DATA, GPG_ERR_BAD_DATA: return nil
    default: throw EngineError(code)
    }
  }

  /// Verifies messages with `gpg --verify-files`, which libgpgme does not offer. One process for all of them takes a
  /// fifth of the time.
  private func verifyFiles(
    _ messages: [[UInt8]], _ session: Session
  ) throws(EngineError) -> [SignatureFact?] {
    let folder = "\(session.home.path)/\(HomeSeal.verification)\(UInt64.random(in: .min ... .max))"
    guard !folder.utf8.contains(UInt8(ascii: "\n")) else {
      throw .unsafeEngine(path: folder, reason: "its name has a line feed")
    }
    try PrivateFolder.make(folder)
    defer {
      FolderRemoval.removeContent(of: folder)
      _ = unsafe rmdir(folder)
    }
    var names: [UInt8] = []
    for (number, message) in messages.enumerated() {
      try SmallFile.write(message, to: "\(folder)/\(number)", isSynchronized: false)
      names += "\(folder)/\(number)\n".utf8
    }
    counter.processStarted()
    // In batch mode gpg exits at the first bad signature.
    let output = try ProgramCall.run(
      session.program.path,
      ["--homedir", session.home.path, "--no-batch", "--no-tty", "--status-fd", "1", "--verify-files"],
      input: names)
    let report = VerificationStatus(output, table: session.home.table)
    return messages.indices.map { report.facts["\(folder)/\($0)"] }
  }
}

/// The status lines of `gpg --verify-files` (GnuPG's doc/DETAILS): one fact for each file.
struct VerificationStatus {
  /// The facts by file. A file without exactly one signature that can be verified has none.
  private(set) var facts: [String: SignatureFact] = [:]

  /// The state of one file while its lines are read.
  private struct File {
    let name: String
    var status: SignatureFact.Status?
    var signatures = 0
    var hasError = false
    var key: Fingerprint?
    var time = 0
  }

  /// Reads status lines.
  ///
  /// - Parameters:
  ///   - output: All bytes that gpg wrote to its status descriptor.
  ///   - table: The keys of the people, used to find the owner of a subkey.
  init(_ output: [UInt8], table: KeyTable) {
    var file: File?
    for line in output.split(separator: UInt8(ascii: "\n")) where line.starts(with: Self.prefix) {
      let text = String(decoding: line.dropFirst(Self.prefix.count), as: UTF8.self)
      let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
      switch words[0] {
      case "FILE_START":
        file = File(name: words.dropFirst(2).joined(separator: " "))
      case "FILE_DONE":
        if let file, let fact = Self.fact(file, table) { facts[file.name] = fact }
        file = nil
      default: file = file.map { Self.reading(words, of: $0) }
      }
    }
  }

  private static let prefix = Array("[GNUPG:] ".utf8)

  private static func reading(_ words: [String], of file: File) -> File {
    var file = file
    func note(_ status: SignatureFact.Status) {
      file.status = status
      file.signatures += 1
    }
    switch words[0] {
    case "GOODSIG": note(.good)
    case "EXPKEYSIG": note(.expiredKey)
    case "REVKEYSIG": note(.revokedKey)
    case "BADSIG", "EXPSIG": note(.bad)
    case "ERRSIG":
      // Field 6 is the reason; 9 means that the key is missing.
      note(words.count > 6 && words[6] == "9" ? .unknownKey : .bad)
    case "VALIDSIG":
      file.key = words.count > 1 ? Fingerprint(words[1]) : nil
      file.time = words.count > 3 ? Int(words[3]) ?? 0 : 0
    case "ERROR", "NODATA", "UNEXPECTED", "FILE_ERROR": file.hasError = true
    default: break
    }
    return file
  }

  private static func fact(_ file: File, _ table: KeyTable) -> SignatureFact? {
    guard file.signatures == 1, let status = file.status, !file.hasError else { return nil }
    let isValid = [.good, .expiredKey, .revokedKey].contains(status)
    guard !isValid || file.key != nil else { return nil }
    return SignatureFact(
      primary: file.key.flatMap { table.owner(of: $0) }, key: file.key, status: status,
      created: Timestamp(seconds: file.time))
  }
}
