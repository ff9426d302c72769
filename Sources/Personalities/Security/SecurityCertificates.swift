internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Secrets
internal import Terminal

/// The commands for certificates and identities.
///
/// Names are searched in the labels. If Apple's functions stored a certificate, its label is its common name.
/// Certificates are decrypted, one after the other, only for options that need their content (`-e`, `-m`, `-p`, `-Z`).
enum SecurityCertificates {
  static let find = SecurityCommand(
    "find-certificate", "hac:e:mpZ", usage: "[-a] [-c name] [-e mail-address] [-m] [-p] [-Z] [keychain...]",
    "Find a certificate, or with -a all of them."
  ) { call in try find(call) }

  static let delete = SecurityCommand(
    "delete-certificate", "hc:Z:t", usage: "-c name | -Z hash [-t] [keychain...]", "Delete a certificate.",
    writes: true
  ) { call in try delete(call) }

  static let identities = SecurityCommand(
    "find-identity", "hp:s:v", usage: "[-p policy] [-s string] [-v] [keychain...]",
    "List certificates that have a private key; their validity is not checked."
  ) { call in try identities(call) }

  private static let place = "SecKeychainSearchCopyNext"

  // MARK: find-certificate

  private static func find(_ call: SecurityCall) throws {
    let options = call.options
    if options.has("h") { throw SecurityFailure.usage }
    let mail = options.bytes("e")
    let isForAll = options.has("a")
    // As on macOS, a mail address replaces the name as the search condition.
    let records = try matching(mail == nil ? options.bytes("c") : nil, call, in: try call.openIndex())
    let needsContent = mail != nil || options.has("m") || options.has("p") || options.has("Z")
    let keyring = needsContent && !records.isEmpty ? try call.openKeyring() : nil
    var isFound = false
    for record in records {
      let content = try keyring.map { keyring in try read(record, keyring) }
      if let mail, content?.mailAddresses.contains(where: { isSame($0, mail) }) != true { continue }
      isFound = true
      try show(record, content, call)
      if !isForAll || call.console.outputIsClosed { break }
    }
    if !isFound, !isForAll { throw SecurityFailure(.itemNotFound, at: place) }
  }

  private static func show(
    _ record: ItemRecord, _ content: CertificateContent?, _ call: SecurityCall
  ) throws {
    let console = call.console
    if let content, call.options.has("Z") {
      console.print("SHA-256 hash: \(SecurityText.hexadecimal(content.sha256))")
      console.print("SHA-1 hash: \(SecurityText.hexadecimal(content.sha1))")
    }
    if let content, call.options.has("m") {
      let shown = content.mailAddresses.map { Escaping.terminal.show($0) }
      console.print("email addresses: \(shown.joined(separator: ", "))")
    }
    if let content, call.options.has("p") {
      console.write(TerminalText(composed: content.pem))
    } else {
      console.write(SecurityItem(record, in: try call.keychain()).text)
    }
  }

  /// Returns the certificates whose label contains a text, ignoring case.
  private static func matching(
    _ name: [UInt8]?, _ call: SecurityCall, in index: Index
  ) throws -> [ItemRecord] {
    let predicates = name.map { name in
      [
        Predicate(
          subject: .attribute(.label), comparison: .contains(AttributeValue(text: name)), ignoresCase: true)
      ]
    }
    let matches = try securityCall(place) {
      try index.find(Query(itemClass: .certificate, predicates: predicates ?? []))
    }
    call.call.tell(matches.problems)
    return matches.items
  }

  private static func read(_ record: ItemRecord, _ keyring: Keyring) throws
    -> CertificateContent
  {
    let secret: SecretBytes
    do {
      secret = try keyring.secret(for: record, matching: Query(itemClass: .certificate))
    } catch {
      throw SecurityFailure(error, at: "SecCertificateGetData")
    }
    return CertificateContent(secret)
  }

  /// Returns true if two mail addresses are equal, ignoring the case of ASCII letters.
  private static func isSame(_ left: [UInt8], _ right: [UInt8]) -> Bool { lower(left) == lower(right) }

  private static func lower(_ bytes: [UInt8]) -> [UInt8] {
    bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }
  }

  // MARK: delete-certificate

  private static func delete(_ call: SecurityCall) throws {
    let options = call.options
    let (name, hash) = (options.bytes("c"), options.bytes("Z"))
    guard !options.has("h"), name != nil || hash != nil else { throw SecurityFailure.usage }
    let keyring = try call.openKeyring()
    var records = try matching(hash == nil ? name : nil, call, in: keyring.index)
    if let hash {
      let wanted = lower(hash.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: ":") })
      var meant: [ItemRecord] = []
      for record in records {
        let content = try read(record, keyring)
        let hashes = [content.sha1, content.sha256].map { lower(Array(SecurityText.hexadecimal($0).utf8)) }
        if hashes.contains(wanted) { meant.append(record) }
      }
      records = meant
    }
    let shown = Escaping.terminal.show(hash ?? name ?? [])
    guard let record = records.first else {
      throw SecurityFailure(.failure, ["Unable to delete certificate matching \"\(shown)\""])
    }
    guard records.count == 1 else {
      throw SecurityFailure(
        .failure,
        [
          "security: \"\(shown)\" is ambiguous, matches more than one certificate",
          "Unable to delete certificate matching \"\(shown)\"",
        ])
    }
    do {
      try keyring.requireRemovable([record])
      try keyring.delete([record])
    } catch {
      throw SecurityFailure(error, at: "SecKeychainItemDelete")
    }
  }

  // MARK: find-identity

  private static func identities(_ call: SecurityCall) throws {
    if call.options.has("h") { throw SecurityFailure.usage }
    let index = try call.openIndex()
    let keys = try securityCall(place) {
      try index.find(Query(itemClass: .key, predicates: [.equal(.keyClass, 1)]))
    }
    call.call.tell(keys.problems)
    let labels = keys.items.compactMap { $0.attributes[.applicationLabel] }
    let records = try matching(nil, call, in: index).filter { record in
      guard let hash = record.attributes[.publicKeyHash] else { return false }
      return labels.contains { $0.isSame(as: hash) }
    }
    let keyring = records.isEmpty || call.options.has("v") ? nil : try call.openKeyring()
    let console = call.console
    if let keyring {
      console.write("\nPolicy: any\n  Matching identities\n")
      for (number, record) in records.enumerated() {
        let label = SecurityText.show(record.attributes[.label]?.contentBytes ?? [])
        let hash = SecurityText.hexadecimal(try read(record, keyring).sha1)
        console.print("  \(number + 1)) \(hash) \(label.isEmpty ? "\"\"" : label)")
      }
      console.write("     \(records.count) identities found\n\n  Valid identities only\n")
    } else if !call.options.has("v") {
      console.write(
        "\nPolicy: any\n  Matching identities\n     0 identities found\n\n  Valid identities only\n")
    }
    console.print("     0 valid identities found")
    call.note("the validity of certificates is not checked: no identity is listed as valid")
  }
}
