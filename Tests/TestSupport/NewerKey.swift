import Foundation
package import KeyringModel

/// A key of `fixtures/newer-gnupg` that GnuPG 2.2 cannot read. The README there says how they were made.
package enum NewerKey: String, CaseIterable, Sendable {
  /// A primary key of version 4 with a Kyber subkey.
  case kyber
  /// The same, with an ordinary encryption subkey, too.
  case both
  /// An ordinary algorithm in packets of version 5.
  case version5
  /// An Ed448 key, which has version 5, with a Kyber subkey.
  case ed448

  /// The primary fingerprint.
  package var fingerprint: Fingerprint {
    guard let fingerprint = Fingerprint(digits) else {
      preconditionFailure("a fixture has an invalid fingerprint")
    }
    return fingerprint
  }

  private var digits: String {
    switch self {
    case .kyber: "5A05E329A80A3A9419981650DF5F080B012EB214"
    case .both: "B1AFA66A429499D100890A07CB3188D5BD0A2B99"
    case .version5: "8B52C7921D988E8F60E180FC1EB00E451F3E983805EDF684B4DB55F75F75833A"
    case .ed448: "1C454886C2E5CB09A14522F3D0F91BA9E1FC5E2DD327F85565B8C346A548AB1B"
    }
  }

  /// The first version of GnuPG that can read it.
  package var needed: String { self == .version5 ? "2.4" : "2.5" }

  /// True if these tests run with GnuPG 2.2, which reads no packet of version 5.
  package static let needsNewerGnuPG: Bool = {
    guard let text = try? GnuPGTool.run("gpg", ["--version"]) else { return false }
    let version = String(decoding: text, as: UTF8.self).split(separator: "\n").first?.split(separator: " ")
      .last
    return version?.hasPrefix("2.2.") == true
  }()

  /// The public key, armored.
  package var publicKey: [UInt8] {
    get throws { try Self.bytes("\(rawValue).public.asc") }
  }

  /// Returns the content of a file of the fixtures.
  package static func bytes(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: path(name))))
  }

  /// Returns the path of a file of the fixtures.
  package static func path(_ name: String) -> String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("fixtures/newer-gnupg/\(name)").path
  }
}
