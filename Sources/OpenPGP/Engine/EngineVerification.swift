internal import CGPGME
internal import Encoding
internal import FileSystem
internal import Glibc
internal import KeyringModel
internal import Subprocess

extension Engine {
  /// The number of messages that one process verifies.
  private static let portion = 512

  package func verifyMessages(_ messages: [[UInt8]]) throws(EngineError) -> [SignatureFact?] {
    var readable: [Int] = []
    for index in messages.indices where SignedMessage(messages[index]) != nil {
      // gpg gets only messages of the form about which it always has a verdict.
      if let version = SignaturePackets.version(in: messages[index]), try canVerify([version]) {
        readable.append(index)
      } else {
        try requireAllKeys()
      }
    }
    var facts = [SignatureFact?](repeating: nil, count: messages.count)
    var rest = readable[...]
    while !rest.isEmpty {
      let portion = Array(rest.prefix(Self.portion))
      rest = rest.dropFirst(portion.count)
      let found = try withHome { session throws(EngineError) in
        try verifyTogether(portion.map { messages[$0] }, session)
      }
      for (index, fact) in zip(portion, found) { facts[index] = fact }
    }
    return try resolvingContests(facts, of: messages)
  }

  package func verifyDetached(
    signature: [UInt8], of bytes: [UInt8]
  ) throws(EngineError) -> [SignatureFact] {
    // gpg gets only signatures of the form about which it always has a verdict, without their armor: it says nothing about
    // one whose armor is damaged.
    let signature = Armor.binary(signature, .signature)
    guard let versions = SignaturePackets.versions(in: signature), try canVerify(versions) else {
      try requireAllKeys()
      return []
    }
    let facts = try withHome { session throws(EngineError) in
      try verify(signature, of: bytes, session).facts(versions.count, session.home.table)
    }
    return try resolvingContests(facts, of: signature, over: bytes)
  }

  /// Returns true if gpg knows all of some versions of signatures.
  private func canVerify(_ versions: [UInt8]) throws(EngineError) -> Bool {
    if versions.contains(5), try tools().program.version.hasPrefix("2.2.") { return false }
    return versions.allSatisfy { $0 == 4 || $0 == 5 }
  }

  /// Checks that gpg can read the keys of all people. Otherwise a signature of a form that gpg does not know may be valid.
  private func requireAllKeys() throws(EngineError) {
    if let (person, problem) = try home().table.unreadable(preferring: nil) {
      throw .unusableKey(person, problem)
    }
  }

  private func verifyTogether(
    _ messages: [[UInt8]], _ session: Session
  ) throws(EngineError) -> [SignatureFact] {
    if messages.count > 1, let facts = try verifyFiles(messages, session) { return facts }
    return try messages.map { message throws(EngineError) in
      try verify(message, of: nil, session).facts(1, session.home.table)[0]
    }
  }

  /// Verifies one signed message, or one detached signature, in memory.
  ///
  /// - Parameters:
  ///   - signature: The message or the signature.
  ///   - content: The signed bytes; nil for a message.
  private func verify(
    _ signature: [UInt8], of content: [UInt8]?, _ session: Session
  ) throws(EngineError) -> SignatureStatements {
    let context = try Context(program: session.program, home: session.home.path, interaction: .never)
    counter.processStarted()
    let signed = content ?? []
    let code = try unsafe signature.span.bytes.withUnsafeBytes { signature throws(EngineError) in
      let source = try unsafe DataObject(reading: signature, isSensitive: false)
      return try unsafe signed.span.bytes.withUnsafeBytes { bytes throws(EngineError) in
        let text = try unsafe DataObject(reading: bytes, isSensitive: false)
        let output = try DataObject()
        let (input, signed, plain) = unsafe (source.pointer, text.pointer, output.pointer)
        return unsafe context.run { context in
          unsafe gpgme_op_verify_start(
            context, input, content == nil ? nil : signed, content == nil ? plain : nil)
        }
      }
    }
    switch gpgme_err_code(code) {
    // The statements show whether gpg has said everything.
    case GPG_ERR_NO_ERROR, GPG_ERR_NO_DATA, GPG_ERR_BAD_DATA: return context.report.statements
    default: throw EngineError(code)
    }
  }

  /// Verifies messages with `gpg --verify-files`, which libgpgme does not offer. One process for all of them takes a
  /// fifth of the time.
  ///
  /// - Returns: nil if this process cannot learn how gpg has ended, because it does not collect the status of its
  ///   children.
  private func verifyFiles(
    _ messages: [[UInt8]], _ session: Session
  ) throws(EngineError) -> [SignatureFact]? {
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
      [
        "--homedir", session.home.path, "--no-batch", "--no-tty", "--status-fd", "1",
        "--exit-on-status-write-error", "--verify-files",
      ], input: names)
    guard let output else { return nil }
    let report = VerificationStatus(output)
    return try messages.indices.map { number throws(EngineError) in
      try report.statements(about: "\(folder)/\(number)").facts(1, session.home.table)[0]
    }
  }
}

/// The status lines of `gpg --verify-files`: the statements about each file.
struct VerificationStatus {
  private var files: [String: SignatureStatements] = [:]

  /// Reads status lines.
  ///
  /// - Parameter output: All bytes that gpg wrote to its status descriptor.
  init(_ output: [UInt8]) {
    var file: (name: String, statements: SignatureStatements)?
    for line in output.split(separator: UInt8(ascii: "\n")) where line.starts(with: Self.prefix) {
      let text = String(decoding: line.dropFirst(Self.prefix.count), as: UTF8.self)
      let words = text.split(separator: " ", omittingEmptySubsequences: false)
      switch words[0] {
      case "FILE_START": file = (words.dropFirst(2).joined(separator: " "), SignatureStatements())
      case "FILE_DONE":
        if let file { files[file.name] = file.statements }
        file = nil
      default: file?.statements.read(words)
      }
    }
  }

  private static let prefix = Array("[GNUPG:] ".utf8)

  /// Returns the statements about a file that gpg has read to its end.
  ///
  /// - Throws: `incomplete` if gpg has not.
  func statements(about name: String) throws(EngineError) -> SignatureStatements {
    guard let statements = files[name] else { throw .incomplete(detail: "it did not read all signatures") }
    return statements
  }
}
