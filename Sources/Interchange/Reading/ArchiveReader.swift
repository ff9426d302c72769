internal import Encoding
internal import KeyringModel
package import Secrets

/// A strict, in-memory reader of ZIP archives. No member is ever written to disk.
///
/// It reads archives of one part with a central directory (APPNOTE.TXT, 4.3), with stored or deflated members, without
/// encryption. Ambiguous input is an error: duplicate names, sizes that differ from the directory's, a wrong checksum,
/// members that overlap each other or the directory, bytes between members.
package struct ArchiveReader: Sendable {
  /// A member, as described in the central directory.
  package struct Member: Sendable {
    /// Its name; separators are `/`.
    package let name: String
    /// Its size in bytes.
    package let size: Int
    fileprivate let packedSize: Int
    fileprivate let isDeflated: Bool
    fileprivate let checksum: UInt32
    fileprivate let header: Int
    fileprivate let method: Int
    fileprivate let flags: Int
    fileprivate var content = 0..<0
  }

  /// The size of the largest archive that is read: 256 MiB.
  package static let sizeLimit = 256 << 20
  /// The largest number of members.
  package static let memberLimit = 20_000
  private static let endSize = 22
  private static let entrySize = 46
  private static let headerSize = 30

  /// The members that are not folders, in the order of the directory.
  package let members: [Member]
  /// The positions of the members in the order of the bytes of their names.
  private let byName: [Int]
  private let archive: SecretSlice
  private let inflation: Inflation

  /// Reads the directory of an archive without unpacking members.
  ///
  /// - Parameters:
  ///   - bytes: the archive.
  ///   - inflation: unpacks members.
  /// - Throws: `ArchiveProblem`.
  package init(_ bytes: consuming SecretBytes, unpackingWith inflation: Inflation) throws(ArchiveProblem) {
    self.inflation = inflation
    archive = SecretSlice(bytes)
    let members = try unsafe archive.withBytes { bytes throws(ArchiveProblem) in
      let end = try unsafe Self.end(of: bytes)
      var members = try unsafe Self.directory(end, in: bytes)
      // The members must cover all bytes from the first one to the directory, without gaps and overlaps.
      var position = 0
      for index in members.indices.sorted(by: { members[$0].header < members[$1].header }) {
        guard members[index].header == position else { throw .damaged }
        position = try unsafe Self.settle(&members[index], directory: end.start, in: bytes)
      }
      guard position == end.start else { throw .damaged }
      return members.filter { !$0.name.hasSuffix("/") }
    }
    self.members = members
    byName = members.indices.sorted { members[$0].name.precedesInBytes(members[$1].name) }
  }

  /// Returns the member with this name, or nil if there is none.
  package subscript(name: String) -> Member? {
    member(named: name) { $0.hasSameBytes(as: name) }
  }

  /// Returns the member whose name begins with a text and is the first in the order of bytes, or nil if there is none.
  package func member(withPrefix text: String) -> Member? {
    member(named: text) { $0.utf8.starts(with: text.utf8) }
  }

  /// Returns the first member whose name is not before a text, if it fits.
  private func member(named text: String, _ fits: (String) -> Bool) -> Member? {
    var (low, high) = (0, byName.count)
    while low < high {
      let middle = (low + high) / 2
      if members[byName[middle]].name.precedesInBytes(text) { low = middle + 1 } else { high = middle }
    }
    guard low < byName.count, fits(members[byName[low]].name) else { return nil }
    return members[byName[low]]
  }

  /// Unpacks a member and verifies it.
  ///
  /// - Parameters:
  ///   - member: the member to unpack.
  ///   - limit: the largest accepted number of bytes.
  /// - Throws: `tooLarge` before anything is unpacked; `damaged`, `badChecksum`.
  package func content(of member: Member, limit: Int) throws(ArchiveProblem) -> SecretBytes {
    guard member.size <= limit else { throw .tooLarge(limit: limit) }
    let packed = archive.part(member.content)
    let content =
      member.isDeflated ? try inflation.unpack(packed, size: member.size) : packed.copy()
    guard inflation.checksum(of: content) == member.checksum else { throw .badChecksum }
    return content
  }

  // Checks that the header of a member agrees with the directory, and sets the range of its content. Returns the end of
  // the member.
  private static func settle(
    _ member: inout Member, directory: Int, in bytes: UnsafeRawBufferPointer
  ) throws(ArchiveProblem) -> Int {
    let start = member.header
    guard start + headerSize <= directory, unsafe bytes.number(at: start, 4) == 0x0403_4B50 else {
      throw .damaged
    }
    let nameEnd = unsafe start + headerSize + bytes.number(at: start + 26, 2)
    let first = unsafe nameEnd + bytes.number(at: start + 28, 2)
    let end = first + member.packedSize
    guard nameEnd <= directory, end <= directory,
      unsafe bytes[start + headerSize..<nameEnd].elementsEqual(member.name.utf8),
      unsafe bytes.number(at: start + 6, 2) == member.flags,
      unsafe bytes.number(at: start + 8, 2) == member.method
    else { throw .damaged }
    let facts = [Int(member.checksum), member.packedSize, member.size]
    func areFacts(at position: Int) -> Bool {
      position + 12 <= directory
        && facts.indices.allSatisfy { unsafe bytes.number(at: position + 4 * $0, 4) == facts[$0] }
    }
    member.content = first..<end
    // Bit 3: the values follow the content, with or without a signature.
    guard member.flags & 8 != 0 else {
      guard areFacts(at: start + 14) else { throw .damaged }
      return end
    }
    let isMarked = unsafe end + 4 <= directory && bytes.number(at: end, 4) == 0x0807_4B50
    if isMarked, areFacts(at: end + 4) { return end + 16 }
    guard areFacts(at: end) else { throw .damaged }
    return end + 12
  }

  private struct End {
    let start: Int
    let size: Int
    let count: Int
  }

  // Finds the end of the central directory: the last 22 bytes before a comment that extends to the end of the file.
  private static func end(of bytes: UnsafeRawBufferPointer) throws(ArchiveProblem) -> End {
    guard bytes.count >= endSize else { throw .notAnArchive }
    let lowest = max(0, bytes.count - endSize - 0xFFFF)
    for position in stride(from: bytes.count - endSize, through: lowest, by: -1)
    where unsafe bytes.number(at: position, 4) == 0x0605_4B50 {
      guard unsafe position + endSize + bytes.number(at: position + 20, 2) == bytes.count else { continue }
      let count = unsafe bytes.number(at: position + 10, 2)
      let size = unsafe bytes.number(at: position + 12, 4)
      let start = unsafe bytes.number(at: position + 16, 4)
      // The archive has several parts, or is ZIP64.
      guard unsafe bytes.number(at: position + 4, 4) == 0, unsafe bytes.number(at: position + 8, 2) == count,
        count != 0xFFFF, start != 0xFFFF_FFFF
      else { throw .unsupported }
      guard start + size == position else { throw .damaged }
      return End(start: start, size: size, count: count)
    }
    throw .notAnArchive
  }

  private static func directory(
    _ end: End, in bytes: UnsafeRawBufferPointer
  ) throws(ArchiveProblem) -> [Member] {
    guard end.count <= memberLimit else { throw .tooManyMembers(limit: memberLimit) }
    var members: [Member] = []
    var names: Set<String> = []
    var position = end.start
    for _ in 0..<end.count {
      guard position + entrySize <= end.start + end.size, unsafe bytes.number(at: position, 4) == 0x0201_4B50
      else { throw .damaged }
      let flags = unsafe bytes.number(at: position + 8, 2)
      let method = unsafe bytes.number(at: position + 10, 2)
      let nameLength = unsafe bytes.number(at: position + 28, 2)
      let nameStart = position + entrySize
      let next =
        unsafe nameStart + nameLength + bytes.number(at: position + 30, 2)
        + bytes.number(at: position + 32, 2)
      guard next <= end.start + end.size else { throw .damaged }
      guard flags & 1 == 0 else { throw .encrypted }
      let name = try unsafe Self.name(bytes[nameStart..<nameStart + nameLength])
      guard names.insert(name).inserted else { throw .duplicateName }
      let member = unsafe Member(
        name: name, size: bytes.number(at: position + 24, 4), packedSize: bytes.number(at: position + 20, 4),
        isDeflated: method == 8, checksum: UInt32(bytes.number(at: position + 16, 4)),
        header: bytes.number(at: position + 42, 4), method: method, flags: flags)
      guard method == 0 || method == 8, member.size != 0xFFFF_FFFF, member.packedSize != 0xFFFF_FFFF else {
        throw .unsupported
      }
      guard method == 8 || member.size == member.packedSize else { throw .damaged }
      members.append(member)
      position = next
    }
    guard position == end.start + end.size else { throw .damaged }
    return members
  }

  // The name must be relative and must not lead upwards.
  private static func name(_ bytes: Slice<UnsafeRawBufferPointer>) throws(ArchiveProblem) -> String {
    guard let name = unsafe String(validating: bytes, as: UTF8.self), !name.isEmpty,
      !name.utf8.contains(0), !name.utf8.contains(UInt8(ascii: "\\")), !name.hasPrefix("/")
    else { throw .unsafeName }
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard !parts.dropLast().contains(where: { $0.isEmpty }), !parts.contains("."), !parts.contains("..")
    else {
      throw .unsafeName
    }
    return name
  }
}

extension UnsafeRawBufferPointer {
  /// Returns a little-endian number of one to four bytes.
  fileprivate func number(at position: Int, _ size: Int) -> Int {
    var value = 0
    for index in (0..<size).reversed() { value = unsafe value << 8 | Int(self[position + index]) }
    return value
  }
}
