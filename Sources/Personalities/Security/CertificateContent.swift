internal import Encoding
internal import KeyringModel
internal import Secrets

/// The content of a certificate that `security` needs in addition to its attributes. A certificate is public.
struct CertificateContent {
  /// The certificate in DER.
  let der: [UInt8]

  /// Creates the content from the stored secret of a certificate item.
  init(_ secret: borrowing SecretBytes) {
    der = unsafe secret.withBytes { unsafe Array($0) }
  }

  /// Creates the content from a certificate in DER.
  init(der: [UInt8]) { self.der = der }

  /// The SHA-256 of the certificate.
  var sha256: [UInt8] { ContentDigest(of: der).bytes }

  /// The SHA-1 of the certificate. Apple's tools use it as a name; it protects nothing.
  var sha1: [UInt8] { SHA1.digest(of: der) }

  /// The certificate as text (RFC 7468): lines of 64 characters.
  var pem: String {
    var base64: [UInt8] = []
    unsafe der.withUnsafeBytes { der in unsafe Base64.encode(der, as: .standard) { base64.append($0) } }
    var text = "-----BEGIN CERTIFICATE-----\n"
    for start in stride(from: 0, to: base64.count, by: 64) {
      text += String(decoding: base64[start..<min(start + 64, base64.count)], as: UTF8.self) + "\n"
    }
    return text + "-----END CERTIFICATE-----\n"
  }

  /// The mail addresses (RFC 5280): those of the alternative names, then those of the subject, without duplicates.
  /// Empty if the certificate cannot be parsed.
  var mailAddresses: [[UInt8]] {
    guard let signed = DERReader.only(der[...], DER.sequence)?.reader.first(DER.sequence) else { return [] }
    var fields = signed.reader
    var sequences: [DERElement<ArraySlice<UInt8>>] = []
    var extensions: ArraySlice<UInt8>?
    while let field = fields.next() {
      if field.tag == DER.sequence { sequences.append(field) }
      if field.tag == 0xA3 { extensions = field.content }
    }
    // Algorithm, issuer, validity, subject, key (section 4.1).
    guard sequences.count == 5 else { return [] }
    var addresses: [[UInt8]] = []
    for address in Self.alternativeNames(extensions) + Self.subjectNames(sequences[3])
    where !addresses.contains(address) {
      addresses.append(address)
    }
    return addresses
  }

  private static func alternativeNames(_ extensions: ArraySlice<UInt8>?) -> [[UInt8]] {
    guard let extensions, var list = DERReader.only(extensions, DER.sequence)?.reader else { return [] }
    while let entry = list.next(DER.sequence) {
      var parts = entry.reader
      guard let identifier = parts.next(DER.objectIdentifier),
        Array(identifier.content) == [0x55, 0x1D, 0x11]
      else { continue }
      var value = parts.next()
      // The optional `critical` flag precedes the value.
      if value?.tag != DER.octetString { value = parts.next() }
      guard let value, value.tag == DER.octetString,
        var names = DERReader.only(value.content, DER.sequence)?.reader
      else { return [] }
      var addresses: [[UInt8]] = []
      while let name = names.next() {
        if name.tag == 0x81 { addresses.append(Array(name.content)) }
      }
      return addresses
    }
    return []
  }

  private static func subjectNames(_ subject: DERElement<ArraySlice<UInt8>>) -> [[UInt8]] {
    var addresses: [[UInt8]] = []
    var relativeNames = subject.reader
    while var parts = relativeNames.next(DER.set)?.reader {
      while var part = parts.next(DER.sequence)?.reader {
        guard let type = part.next(DER.objectIdentifier), let text = part.next() else { break }
        // PKCS #9, emailAddress
        guard Array(type.content) == [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x01] else { continue }
        addresses.append(Array(text.content))
      }
    }
    return addresses
  }
}

extension DERReader {
  /// Returns the first element if it has the given tag, without advancing this reader.
  fileprivate func first(_ tag: UInt8) -> DERElement<Bytes>? {
    var reader = self
    return reader.next(tag)
  }
}
