import Secrets
import Testing

@Suite(.serialized) struct SecretBytesTests {
  private static func bytes(_ secret: borrowing SecretBytes) -> [UInt8] {
    unsafe secret.withBytes { unsafe Array($0) }
  }

  @Test func `an empty secret is empty and comparable`() {
    let none = SecretBytes()
    let isEmpty = none.isEmpty
    #expect(isEmpty)
    #expect(Self.bytes(none) == [])
    let other = SecretBytes(copying: [])
    let isEqual = none.isEqual(to: other)
    #expect(isEqual)
    #expect(Self.bytes(SecretBytes(capacity: 100)) == [])
  }

  @Test(arguments: [1, 2, 4095, 4096, 4097, 8192, 8193, 100_000])
  func `a secret has exactly the bytes that were added, however they were added`(count: Int) {
    let expected = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 3) }
    #expect(Self.bytes(SecretBytes(copying: expected)) == expected)
    #expect(unsafe expected.withUnsafeBytes { unsafe Self.bytes(SecretBytes(copying: $0)) } == expected)
    var single = SecretBytes()
    for byte in expected { single.append(byte) }
    #expect(Self.bytes(single) == expected)
    var parts = SecretBytes(capacity: 10)
    let half = SecretBytes(copying: expected.prefix(count / 2))
    let rest = SecretBytes(copying: expected.dropFirst(count / 2))
    parts.append(half)
    parts.append(rest)
    #expect(Self.bytes(parts) == expected)
    let size = parts.count
    #expect(size == count)
    #expect(Self.bytes(parts.copy()) == expected)
    #expect(Self.bytes(parts.copy(count / 3..<count)) == Array(expected[(count / 3)...]))
    #expect(Self.bytes(parts.copy(count..<count)) == [])
  }

  @Test func `equality compares every byte and the length`() {
    let secret = SecretBytes(copying: [1, 2, 3])
    for (other, expected) in [
      ([1, 2, 3], true), ([1, 2, 4], false), ([0, 2, 3], false), ([1, 2], false), ([1, 2, 3, 0], false),
      ([], false),
    ] as [([UInt8], Bool)] {
      let isEqual = secret.isEqual(to: SecretBytes(copying: other))
      #expect(isEqual == expected, "\(other)")
    }
  }

  @Test func `bytes that are cut off are wiped at once`() {
    var secret = SecretBytes(copying: [1, 2, 3, 4])
    let place = unsafe secret.withBytes { $0.baseAddress }
    secret.removeLast()
    #expect(Self.bytes(secret) == [1, 2, 3])
    secret.truncate(to: 1)
    #expect(Self.bytes(secret) == [1])
    // The secret still owns these pages, so the bytes after its end can be read.
    let rest = unsafe place.map { unsafe Array(UnsafeRawBufferPointer(start: $0, count: 4)) }
    #expect(rest == [1, 0, 0, 0])
    secret.append(9)
    #expect(Self.bytes(secret) == [1, 9])
  }

  @Test func `a source that fails adds nothing, and the bytes that it wrote are wiped`() {
    struct Failure: Error {}
    var secret = SecretBytes(copying: [1])
    #expect(throws: Failure.self) {
      try unsafe secret.append(room: 3) { buffer throws(Failure) in
        unsafe buffer[0] = 42
        throw Failure()
      }
    }
    #expect(Self.bytes(secret) == [1])
    let place = unsafe secret.withBytes { $0.baseAddress }
    #expect(unsafe place.map { unsafe Array(UnsafeRawBufferPointer(start: $0, count: 4)) } == [1, 0, 0, 0])
  }

  @Test func `a source may write fewer bytes than it has room for`() {
    var secret = SecretBytes(copying: [1])
    let written = unsafe secret.append(room: 5000) { buffer in
      unsafe buffer[0] = 2
      unsafe buffer[1] = 3
      return 2
    }
    #expect(written == 2)
    #expect(Self.bytes(secret) == [1, 2, 3])
  }
}
