internal import CKsba
internal import Encoding
internal import Foundation
internal import KeyringModel

/// The content of an X.509 certificate (RFC 5280), read once, when the value is created.
///
/// libksba must accept the whole certificate. ``DERReader`` reads the parts that libksba does not return byte for byte
/// (names, version, the bits of the public key). It runs first, so that bytes that are not completely DER never reach
/// the library.
struct X509Certificate: Sendable {
  /// The version: 1, 2 or 3.
  let version: Int
  /// The content of the serial number, as the certificate contains it.
  let serialNumber: [UInt8]
  /// The issuer.
  let issuer: DistinguishedName
  /// The subject.
  let subject: DistinguishedName
  /// The object identifier of the public key's algorithm: its content.
  let keyAlgorithm: [UInt8]
  /// The bits of the public key.
  let publicKey: [UInt8]
  /// The validity period; nil if a date is invalid, or if the end is before the start.
  let validity: ClosedRange<Date>?
  /// The identifier of the subject's key, from the extension; nil without one.
  let subjectKeyID: [UInt8]?
  /// The email addresses of the subject's alternative names.
  let alternativeMailAddresses: [String]
  /// The host names of the subject's alternative names.
  let hostNames: [String]

  /// Reads a certificate.
  ///
  /// - Parameter der: The DER of the certificate with no bytes after it. Anything else yields nil.
  init?(der: [UInt8]) {
    // Checked first, because the library prints messages about damaged bytes and accepts some of them.
    guard DER.isWellFormed(der[...]), let fields = CertificateFields(der: der) else { return nil }
    let readable = fields.readable ?? der
    guard let handle = CertificateHandle(der: readable) else { return nil }
    guard let issuer = DistinguishedName(der: fields.issuer),
      let subject = DistinguishedName(der: fields.subject)
    else { return nil }
    version = fields.version
    serialNumber = fields.serialNumber
    self.issuer = issuer
    self.subject = subject
    keyAlgorithm = fields.keyAlgorithm
    publicKey = fields.publicKey
    validity = handle.validity
    subjectKeyID = handle.subjectKeyID
    let names = handle.content(ofExtension: "2.5.29.17").map { GeneralNames(der: readable[$0]) }
    alternativeMailAddresses = names?.mailAddresses ?? []
    hostNames = names?.hostNames ?? []
  }
}

/// The parts of a certificate that are needed byte for byte.
private struct CertificateFields {
  var version = 1
  let serialNumber: [UInt8]
  let issuer: [UInt8]
  let subject: [UInt8]
  let keyAlgorithm: [UInt8]
  let publicKey: [UInt8]
  /// The bytes that libksba reads instead of a certificate whose subject is empty; nil for all others.
  ///
  /// Such certificates are valid (RFC 5280 section 4.1.2.6), but the library (1.6.3) stops reading at the empty name.
  /// These bytes contain the issuer's name instead; only validity and extensions are read from them.
  private(set) var readable: [UInt8]?

  init?(der: [UInt8]) {
    guard var certificate = DERReader.only(der[...], DER.sequence)?.reader,
      let toBeSigned = certificate.next(DER.sequence),
      let algorithmOfSignature = certificate.next(DER.sequence),
      let signature = certificate.next(DER.bitString), certificate.isAtEnd
    else { return nil }
    var signed = toBeSigned.reader
    if signed.nextTag == Self.versionTag {
      guard var explicit = signed.next()?.reader, let number = explicit.nextUnsigned(), explicit.isAtEnd,
        number.count == 1, let value = number.first, value <= 2
      else { return nil }
      version = Int(value) + 1
    }
    guard let serial = signed.next(DER.integer), !serial.content.isEmpty, signed.next(DER.sequence) != nil,
      let issuer = signed.next(DER.sequence), let validity = signed.next(DER.sequence),
      let subject = signed.next(DER.sequence), var key = signed.next(DER.sequence)?.reader,
      var algorithm = key.next(DER.sequence)?.reader,
      let identifier = algorithm.next(DER.objectIdentifier),
      let bits = key.next(DER.bitString), bits.content.first == 0, key.isAtEnd
    else { return nil }
    // Unique identifiers and extensions are only required to be DER.
    while !signed.isAtEnd { guard signed.next() != nil else { return nil } }
    serialNumber = Array(serial.content)
    self.issuer = Array(issuer.whole)
    self.subject = Array(subject.whole)
    keyAlgorithm = Array(identifier.content)
    publicKey = Array(bits.content.dropFirst())
    guard subject.content.isEmpty else { return }
    let before = der[toBeSigned.content.startIndex..<validity.whole.endIndex]
    let after = der[subject.whole.endIndex..<toBeSigned.whole.endIndex]
    let filled = DER.encode(DER.sequence, before + issuer.whole + after)
    readable = DER.encode(DER.sequence, filled + algorithmOfSignature.whole + signature.whole)
  }

  /// `[0] EXPLICIT`, the tag of the version, which is absent for version 1.
  private static let versionTag: UInt8 = 0xA0
}

/// The alternative names of a subject that are text (RFC 5280 section 4.2.1.6).
private struct GeneralNames {
  var mailAddresses: [String] = []
  var hostNames: [String] = []

  init(der: ArraySlice<UInt8>) {
    guard var names = DERReader.only(der, DER.sequence)?.reader else { return }
    while let name = names.next() {
      // A NUL would truncate the name in C code, which would turn it into a different name.
      guard let text = DERText.ascii(name.content), !text.isEmpty, !text.utf8.contains(0) else { continue }
      switch name.tag {
      case 0x81: mailAddresses.append(text)
      case 0x82: hostNames.append(text)
      default: break
      }
    }
  }
}

/// A certificate that libksba has parsed.
@safe private final class CertificateHandle {
  private let handle: ksba_cert_t
  private let size: Int

  init?(der: [UInt8]) {
    var made: ksba_cert_t?
    guard unsafe ksba_cert_new(&made) == 0, let made = unsafe made else { return nil }
    unsafe handle = made
    size = der.count
    var reader: ksba_reader_t?
    guard unsafe ksba_reader_new(&reader) == 0, let reader = unsafe reader else { return nil }
    defer { unsafe ksba_reader_release(reader) }
    // The reader copies the bytes. A certificate with trailing bytes is refused, because another parser might read it
    // differently.
    guard unsafe der.withUnsafeBytes({ unsafe ksba_reader_set_mem(reader, $0.baseAddress, $0.count) }) == 0,
      unsafe ksba_cert_read_der(made, reader) == 0, unsafe ksba_reader_tell(reader) == UInt(der.count)
    else { return nil }
  }

  deinit { unsafe ksba_cert_release(handle) }

  var validity: ClosedRange<Date>? {
    guard let start = date(0), let end = date(1), start <= end else { return nil }
    return start...end
  }

  /// Returns a date of `ksba_cert_get_validity`, which has the format `19610711T172059`.
  private func date(_ which: CInt) -> Date? {
    var text = [CChar](repeating: 0, count: 16)
    let error = unsafe text.withUnsafeMutableBytes { text in
      unsafe text.withMemoryRebound(to: ksba_isotime_t.self) { time in
        unsafe ksba_cert_get_validity(handle, which, time.baseAddress)
      }
    }
    guard error == 0 else { return nil }
    let digits = text.prefix(15).map { UInt8(bitPattern: $0) }
    guard digits[8] == UInt8(ascii: "T") else { return nil }
    func part(_ range: Range<Int>) -> String { String(decoding: digits[range], as: UTF8.self) }
    let day = "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))"
    guard let moment = Timestamp(rfc3339: "\(day)T\(part(9..<11)):\(part(11..<13)):\(part(13..<15))Z") else {
      return nil
    }
    return Date(timeIntervalSince1970: Double(moment.microseconds) / 1_000_000)
  }

  var subjectKeyID: [UInt8]? {
    var expression: ksba_sexp_t?
    guard unsafe ksba_cert_get_subj_key_id(handle, nil, &expression) == 0, let expression = unsafe expression
    else { return nil }
    defer { unsafe ksba_free(expression) }
    return unsafe Self.octets(expression)
  }

  /// Returns the octets of a canonical S-expression with one element, `(3:abc)`; no longer than the certificate.
  private static func octets(_ expression: ksba_sexp_t) -> [UInt8]? {
    guard unsafe expression[0] == UInt8(ascii: "(") else { return nil }
    var count = 0
    var position = 1
    // A certificate's length has at most ten digits.
    while position <= 10, unsafe expression[position] != UInt8(ascii: ":") {
      let digit = unsafe expression[position]
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      count = count * 10 + Int(digit - UInt8(ascii: "0"))
      position += 1
    }
    guard position > 1, unsafe expression[position] == UInt8(ascii: ":") else { return nil }
    return unsafe Array(UnsafeBufferPointer(start: expression + position + 1, count: count))
  }

  /// Returns the range of the content of an extension in the certificate; nil without such an extension.
  func content(ofExtension identifier: String) -> Range<Int>? {
    var index: CInt = 0
    while true {
      var found: UnsafePointer<CChar>?
      var offset = 0
      var count = 0
      let error = unsafe ksba_cert_get_extension(handle, index, &found, nil, &offset, &count)
      guard error == 0, let found = unsafe found else { return nil }
      if unsafe String(cString: found) == identifier {
        guard offset <= size, count <= size - offset else { return nil }
        return offset..<offset + count
      }
      index += 1
    }
  }
}
