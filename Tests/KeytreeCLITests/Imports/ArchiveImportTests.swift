import Secrets
import Testing
@testable import Interchange
@testable import KeytreeCLI

@Suite("Archives that contradict themselves", .serialized)
struct ArchiveImportTests {
  /// A member of an archive without compression. A changed value contradicts the central directory.
  private struct Member {
    var name: String
    var content: String
    var method = 0
    var flags = 0
    var localMethod = 0
    var localFlags = 0
    var localSize: Int?
    var after: [UInt8] = []
    var position: Int?
  }

  private static func number(_ value: Int, _ size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private static func archive(_ members: [Member], before: [UInt8] = []) throws -> [UInt8] {
    let inflation = try Inflation()
    var bytes = before
    var directory: [UInt8] = []
    for member in members {
      let content = Array(member.content.utf8)
      let crc = Int(inflation.checksum(of: SecretBytes(copying: content)))
      let position = member.position ?? bytes.count
      let facts = number(crc, 4) + number(content.count, 4) + number(content.count, 4)
      let local = number(crc, 4) + number(content.count, 4) + number(member.localSize ?? content.count, 4)
      let name = Array(member.name.utf8)
      bytes += number(0x0403_4B50, 4) + number(20, 2) + number(member.localFlags, 2)
      bytes += number(member.localMethod, 2) + number(0, 4)
      bytes += member.localFlags & 8 != 0 ? number(0, 12) : local
      bytes += number(name.count, 2) + number(0, 2) + name + content
      if member.localFlags & 8 != 0 { bytes += number(0x0807_4B50, 4) + local }
      bytes += member.after
      directory += number(0x0201_4B50, 4) + number(20, 2) + number(20, 2) + number(member.flags, 2)
      directory += number(member.method, 2) + number(0, 4) + facts + number(name.count, 2)
      directory += number(0, 12) + number(position, 4) + name
    }
    let start = bytes.count
    bytes += directory + number(0x0605_4B50, 4) + number(0, 4) + number(members.count, 2)
    bytes += number(members.count, 2) + number(directory.count, 4) + number(start, 4) + number(0, 2)
    return bytes
  }

  private static func isRead(_ archive: [UInt8]) throws -> Bool {
    let inflation = try Inflation()
    do throws(ArchiveProblem) {
      let reader = try ArchiveReader(SecretBytes(copying: archive), unpackingWith: inflation)
      for member in reader.members { _ = try reader.content(of: member, limit: 1 << 20) }
      return true
    } catch {
      return error == .damaged ? false : true
    }
  }

  @Test("a consistent archive is read")
  func sound() throws {
    let plain = Member(name: "a", content: "one")
    let described = Member(name: "b", content: "two", flags: 8, localFlags: 8)
    let folder = Member(name: "f/", content: "")
    let isRead = try Self.isRead(Self.archive([plain, described, folder]))
    #expect(isRead)
  }

  @Test("an inconsistent archive is refused", arguments: 0..<7)
  func contradictions(number: Int) throws {
    let first = Member(name: "a", content: "one")
    var second = Member(name: "b", content: "two")
    var before: [UInt8] = []
    switch number {
    case 0: second.localMethod = 8
    case 1: second.localFlags = 0x800
    case 2: second.localSize = 4
    case 3: (second.flags, second.localFlags, second.localSize) = (8, 8, 4)
    case 4: second.after = [0]
    case 5: before = [0]
    default: second.position = 0
    }
    let isRead = try Self.isRead(Self.archive([first, second], before: before))
    #expect(!isRead)
  }

  @Test(
    "a 1PUX file may have shared documents, values with two members, dates of 0 and unknown members"
  )
  func onePassword() throws {
    let document = String(repeating: "d", count: ImportDraft.secretLimit)
    let item = #"{"state":"active","details":{"documentAttributes":{"fileName":"f","documentId":"x"}}}"#
    let fields =
      #"{"details":{"sections":[{"title":"s","more":"m1","fields":[{"title":"f","id":"i","unknown":"m2","value":{"string":"m3","phone":"m4"}},{"title":"day","value":{"date":0}}]}]}}"#
    let items = Array(repeating: item, count: 300).joined(separator: ",")
    let bytes = try Self.archive([
      Member(name: "export.attributes", content: "{}"), Member(name: "files/x__f", content: document),
      Member(
        name: "export.data", content: "{\"accounts\":[{\"vaults\":[{\"items\":[\(fields),\(items)]}]}]}"),
    ])
    let draft = try OnePasswordImport.plan(SecretBytes(copying: bytes))
    let kept = draft.items.filter { $0.part == .column("file f") }.count
    let lost = draft.findings.filter(\.outcome.isLoss).count
    #expect(kept == 256 && lost == 44)
    let secrets = draft.items.filter { $0.secret.count < 10 }.map { "\($0.part.text)=\($0.secret.text)" }
    for text in ["s.f=m3", "s.f.phone=m4", "more=m1", "unknown=m2", "s.day=0"] {
      #expect(secrets.contains(text), "\(text)")
    }
  }
}
