import Foundation
import Secrets
import TestSupport
import Testing
@testable import KeytreeCLI
@testable import Terminal

@Suite("QR codes", .serialized)
struct QRCodeTests {
  private static let zbarimg = "/usr/bin/zbarimg"
  private static let qrencode = "/usr/bin/qrencode"

  static let secrets: [[UInt8]] = [
    [0x61], Array("hunter2".utf8), Array("otpauth://totp/a%20b:c?secret=GEZDGNBVGY3TQOJQ&issuer=a%20b".utf8),
    Array("ünïcödé 日本".utf8), Array((0..<250).map { UInt8(0x20 + $0 % 0x5F) }),
    [UInt8](repeating: 0x5A, count: 2953),
  ]

  private static func modules(_ bytes: [UInt8]) throws -> [[Bool]] {
    let secret = SecretBytes(copying: bytes)
    let code = try QRCode(secret, QREncoder())
    return (0..<code.side).map { row in (0..<code.side).map { code.isDark(row: row, column: $0) } }
  }

  @Test("a QR code has the finder patterns", arguments: secrets)
  func corners(bytes: [UInt8]) throws {
    let modules = try Self.modules(bytes)
    let last = modules.count - 7
    #expect(modules.count % 4 == 1 && modules.count >= 21)
    for (row, column) in [(0, 0), (0, last), (last, 0)] {
      for y in 0..<7 {
        for x in 0..<7 {
          // A finder pattern is a dark ring, a light ring, and a dark square.
          let distance = max(abs(x - 3), abs(y - 3))
          #expect(modules[row + y][column + x] == (distance != 2))
        }
      }
    }
  }

  @Test(
    "an independent reader reads a QR code", .enabled(if: isProgram(zbarimg), "zbarimg is not installed"),
    arguments: secrets.prefix(5))
  func decoded(bytes: [UInt8]) throws {
    let modules = try Self.modules(bytes)
    let scale = 4
    let side = (modules.count + 2 * QRCode.quietZone) * scale
    var image = Array("P5 \(side) \(side) 255\n".utf8)
    for y in 0..<side {
      for x in 0..<side {
        let (row, column) = (y / scale - QRCode.quietZone, x / scale - QRCode.quietZone)
        let isInside = modules.indices.contains(row) && modules.indices.contains(column)
        image.append(isInside && modules[row][column] ? 0 : 255)
      }
    }
    let folder = ScratchFolder()
    try Data(image).write(to: URL(fileURLWithPath: folder.path + "/code.pgm"))
    let output = try Self.output(
      Self.zbarimg, ["-q", "--raw", "-Sdisable", "-Sqrcode.enable", "-Sbinary", folder.path + "/code.pgm"])
    #expect(Array(output) == bytes)
  }

  @Test(
    "a QR code equals the one that qrencode makes",
    .enabled(if: isProgram(qrencode), "qrencode is not installed"), arguments: secrets)
  func same(bytes: [UInt8]) throws {
    let folder = ScratchFolder()
    try Data(bytes).write(to: URL(fileURLWithPath: folder.path + "/secret"))
    let output = try Self.output(
      Self.qrencode, ["-8", "-l", "L", "-m", "0", "-t", "ASCII", "-r", folder.path + "/secret"])
    let lines = String(decoding: output, as: UTF8.self).split(separator: "\n")
    let expected = lines.map { line in
      stride(from: 0, to: line.utf8.count, by: 2).map { Array(line.utf8)[$0] == 0x23 }
    }
    #expect(try Self.modules(bytes) == expected)
  }

  @Test("a QR code is drawn with a quiet zone, two rows to a line")
  func drawing() throws {
    let secret = SecretBytes(copying: Array("hunter2".utf8))
    let code = try QRCode(secret, QREncoder())
    let plain = code.drawing(coloured: false)
    let coloured = code.drawing(coloured: true)
    let lines = String(decoding: plain.revealed, as: UTF8.self).components(separatedBy: "\n")
    #expect(lines.count == (code.side + 8 + 1) / 2)
    #expect(lines.allSatisfy { $0.count == code.columns })
    #expect(lines.prefix(2).allSatisfy { $0.allSatisfy { $0 == " " } })
    #expect(lines.allSatisfy { $0.hasPrefix("    ") && $0.hasSuffix("    ") })
    let screen = String(decoding: coloured.revealed, as: UTF8.self)
    #expect(
      screen.replacing("\u{1B}[38;5;16;48;5;231m", with: "").replacing("\u{1B}[0m", with: "")
        == lines.joined(separator: "\n"))
    for row in 0..<code.side {
      let characters = Array(lines[(row + 4) / 2])
      for column in 0..<code.side {
        let ink: Set<Character> = row % 2 == 0 ? ["█", "▀"] : ["█", "▄"]
        #expect(ink.contains(characters[column + 4]) == code.isDark(row: row, column: column))
      }
    }
  }

  @Test("a QR code has at most 2953 bytes")
  func limit() {
    #expect(throws: QRCode.Problem.tooLong(limit: 2953)) {
      try Self.modules([UInt8](repeating: 0x5A, count: 2954))
    }
  }

  private static func isProgram(_ path: String) -> Bool {
    FileManager.default.isExecutableFile(atPath: path)
  }

  private static func output(_ program: String, _ arguments: [String]) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return output
  }
}
