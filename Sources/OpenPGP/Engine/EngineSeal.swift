internal import CGPGME
internal import KeyringModel
package import Secrets

extension Engine {
  package func seal(
    _ plaintext: borrowing SecretBytes, to recipients: [Recipient]
  ) throws(EngineError) -> [UInt8] {
    // For libgpgme an empty list means symmetric encryption with a passphrase.
    guard !recipients.isEmpty else { throw .noRecipients }
    let people = Set(recipients.map(\.person)).sorted()
    let table = try home().table
    let subkeys = try table.encryptionSubkeys(
      of: Set(recipients).sorted { $0.person < $1.person }, at: Self.now)
    let expected = subkeys.map(\.keyID)
    // Another program gets no mark of an item of a store, so that its message can be imported.
    let name = acceptsForeignMessages ? nil : RecipientName.of(expected)
    return try withHome { session throws(EngineError) in
      let sealed: [UInt8]
      do throws(EngineError) {
        sealed = try encrypt(plaintext, subkeys: subkeys.map(\.fingerprint), name: name, session: session)
      } catch {
        // gpg refuses a subkey by its name.
        guard case .unusableKey(let subkey, let problem) = error,
          let person = people.first(where: {
            table.keys[$0]?.subkeys.contains { $0.fingerprint == subkey } == true
          })
        else { throw error }
        throw .unusableKey(person, problem)
      }
      try SealedMessageCheck.check(sealed, expected: expected, people: people, table: table)
      return sealed
    }
  }

  private func encrypt(
    _ plaintext: borrowing SecretBytes, subkeys: [Fingerprint], name: String?, session: Session
  ) throws(EngineError) -> [UInt8] {
    let context = try Context(
      program: session.program, home: session.home.path, interaction: interaction)
    // The first line ends the options in this string. Without it a recipient such as `--file` would be an option. The
    // format of a fingerprint already excludes that.
    // With an exclamation mark gpg uses exactly this subkey.
    let recipients = "--\n" + subkeys.map { $0.text + "!" }.joined(separator: "\n")
    let flags = gpgme_encrypt_flags_t(
      GPGME_ENCRYPT_ALWAYS_TRUST.rawValue | GPGME_ENCRYPT_NO_ENCRYPT_TO.rawValue
        | GPGME_ENCRYPT_NO_COMPRESS.rawValue)
    let output = try DataObject()
    let target = unsafe output.pointer
    counter.encryptionStarted()
    let code = try unsafe plaintext.withBytes { bytes throws(EngineError) in
      let input = try unsafe DataObject(reading: bytes, isSensitive: true)
      let source = unsafe input.pointer
      if let name {
        let code = unsafe gpgme_data_set_file_name(source, name)
        guard code == 0 else { throw EngineError(code) }
      }
      return unsafe context.run { context in
        unsafe gpgme_op_encrypt_ext_start(context, nil, recipients, flags, source, target)
      }
    }
    guard code == 0 else { throw context.sealingFailure(code, signer: nil) }
    // gpg encrypts the beginning of a plaintext that it cannot read to its end.
    try context.report.requireSuccess()
    guard context.report.hasEnded else { throw .incomplete(detail: "it did not finish encrypting") }
    return output.bytes()
  }
}
