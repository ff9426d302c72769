internal import CQREncode
internal import CSystem
internal import Encoding
internal import Glibc
package import Secrets

/// Creates QR codes with libqrencode.
package struct QREncoder: Sendable {
  /// The name of the library for `dlopen(3)`.
  package static let library = "libqrencode.so.4"
  /// The name of Debian's package.
  package static let package = "libqrencode4"

  fileprivate let functions: keytree_qrencode

  /// Loads the library.
  ///
  /// - Throws: `notInstalled`.
  package init() throws(QRCode.Problem) {
    var functions = keytree_qrencode()
    guard unsafe keytree_qrencode_load(Self.library, &functions) == 1 else {
      throw .notInstalled(library: Self.library)
    }
    self.functions = functions
  }
}

/// A QR code (ISO/IEC 18004) of a secret, drawn in characters.
///
/// The result of libqrencode is wiped here; the working copies that the library frees are not.
package struct QRCode: ~Copyable {
  /// The reason why a code cannot be created.
  package enum Problem: Error, Equatable {
    /// The secret has more bytes than fit in the largest code.
    case tooLong(limit: Int)
    /// The drawing needs more columns than the terminal has.
    case tooWide(columns: Int, terminal: Int)
    /// The library that creates codes is not installed.
    case notInstalled(library: String)
    /// Memory ran out.
    case failed(errno: Int32)
  }

  /// The number of bytes in the largest code with the least redundancy: version 40, level L.
  package static let limit = 2953
  /// The width of the light border that a scanner needs around a code, in modules.
  static let quietZone = 4

  /// The number of modules on a side, without the quiet zone.
  let side: Int
  /// One byte for each module, row by row; 1 for a dark one.
  private let modules: SecretBytes

  /// Creates the code of a secret, byte for byte.
  ///
  /// - Parameters:
  ///   - secret: the content.
  ///   - encoder: creates the code.
  /// - Throws: `tooLong`; `failed`.
  package init(_ secret: borrowing SecretBytes, _ encoder: QREncoder) throws(Problem) {
    guard secret.count <= Self.limit else { throw .tooLong(limit: Self.limit) }
    let found = unsafe secret.withBytes { bytes in
      unsafe encoder.functions.QRcode_encodeData(
        CInt(bytes.count), bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), 0, QR_ECLEVEL_L)
    }
    guard let code = unsafe found else {
      throw errno == ERANGE ? .tooLong(limit: Self.limit) : .failed(errno: errno)
    }
    side = unsafe Int(code.pointee.width)
    var modules = SecretBytes(capacity: side * side)
    // The lowest bit is the colour, the others are the purpose of the module.
    for index in 0..<(side * side) { modules.append(unsafe code.pointee.data[index] & 1) }
    self.modules = modules
    unsafe keytree_wipe(code.pointee.data, side * side)
    unsafe encoder.functions.QRcode_free(code)
  }

  /// The number of columns of the drawing.
  package var columns: Int { side + 2 * Self.quietZone }

  /// Returns true if a module is dark. Modules outside the code are light.
  func isDark(row: Int, column: Int) -> Bool {
    guard (0..<side).contains(row), (0..<side).contains(column) else { return false }
    return unsafe modules.withBytes { unsafe $0[row * side + column] } == 1
  }

  /// Returns the code in half blocks, two rows of modules to a line, with its quiet zone.
  ///
  /// - Parameter coloured: true for a terminal: black on white, regardless of its own colours. Both are taken from the
  ///   fixed part of the 256 colours, which no theme changes. Otherwise blocks are the dark modules.
  /// - Returns: the lines, with a line feed between them.
  func drawing(coloured: Bool) -> SecretBytes {
    var text = SecretBytes(capacity: columns * (columns / 2 + 1) * 3 + columns * 16)
    let range = -Self.quietZone..<(side + Self.quietZone)
    for row in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
      if row != range.lowerBound { text.append("\n") }
      if coloured { text.append("\u{1B}[38;5;16;48;5;231m") }
      for column in range {
        switch (isDark(row: row, column: column), isDark(row: row + 1, column: column)) {
        case (true, true): text.append("█")
        case (true, false): text.append("▀")
        case (false, true): text.append("▄")
        case (false, false): text.append(" ")
        }
      }
      if coloured { text.append("\u{1B}[0m") }
    }
    return text
  }
}

extension Console {
  /// Draws a secret as a QR code.
  ///
  /// - Parameters:
  ///   - secret: the content of the code.
  ///   - encoder: creates the code.
  ///   - isPlain: true for a terminal without colours.
  /// - Throws: `QRCode.Problem` if the secret is too long for a code, or the terminal is too narrow to show it.
  package func draw(
    _ secret: borrowing SecretBytes, with encoder: QREncoder, isPlain: Bool
  ) throws(QRCode.Problem) {
    let code = try QRCode(secret, encoder)
    if outputIsTerminal, width < code.columns {
      throw .tooWide(columns: code.columns, terminal: width)
    }
    let drawing = code.drawing(coloured: outputIsTerminal && !isPlain)
    write(secret: drawing)
    // On a terminal, `write(secret:)` has already added a line feed.
    if !outputIsTerminal { write("\n") }
  }
}
