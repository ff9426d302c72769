import CSystem
import Foundation
import Glibc
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tests that nothing of a secret is left in the memory of this process after its last use (threat T30).
@Suite(.serialized) struct ResidueTests {
  @Test func `nothing is left of a secret that was encrypted and decrypted`() throws {
    let home = try GnuPGHome(secret: [.alice])
    let engine = Engine(home, people: [.alice])
    // Only this copy remains; the search knows its address.
    var marker = SecretBytes()
    for _ in 0..<32 { marker.append(UInt8.random(in: 0 ... .max)) }
    do {
      var secret = SecretBytes()
      // Larger than every buffer that is involved, so that all of them are used.
      for _ in 0..<2000 { secret.append(marker) }
      let sealed = try engine.seal(secret, to: [GnuPGKey.alice.fingerprint])
      let opened = try engine.open(sealed, limit: 1 << 20)
      let isSame = opened.isEqual(to: secret)
      #expect(isSame)
      let places = try Self.places(of: marker)
      #expect(places > 2000)
      // Both are used here, so they live at least until this point.
      let sizes = [secret.count, opened.count]
      #expect(sizes == [64_000, 64_000])
    }
    #expect(try Self.places(of: marker) == 0)
  }

  // Returns the number of occurrences of the bytes in writable memory, apart from the argument itself.
  private static func places(of marker: borrowing SecretBytes) throws -> Int {
    let memory = unsafe open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
    try #require(memory >= 0)
    defer { close(memory) }
    let window = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { unsafe window.deallocate() }
    // Not read by path: such a file reports a size of 0, and then only a part of it is read.
    let list = try #require(FileHandle(forReadingAtPath: "/proc/self/maps"))
    let maps = String(decoding: try #require(try list.readToEnd()), as: UTF8.self)
    var found = 0
    for line in maps.split(separator: "\n") where line.split(separator: " ")[1].hasPrefix("rw") {
      let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { Int($0, radix: 16) }
      var start = ends[0]
      while start < ends[1] {
        let size = min(window.count, ends[1] - start)
        // The mapping may have been removed since the list was read.
        let got = unsafe pread(memory, window.baseAddress, size, start)
        if got <= 0 { break }
        let content = unsafe UnsafeRawBufferPointer(rebasing: window[..<got])
        found += unsafe marker.withBytes { marker in
          unsafe count(marker, in: content, at: start, except: UnsafeRawBufferPointer(window))
        }
        start += got
      }
      unsafe keytree_wipe(window.baseAddress, window.count)
    }
    return found
  }

  private static func count(
    _ needle: UnsafeRawBufferPointer, in content: UnsafeRawBufferPointer, at address: Int,
    except window: UnsafeRawBufferPointer
  ) -> Int {
    var found = 0
    var offset = 0
    let starts = [
      (Int(bitPattern: needle.baseAddress), needle.count),
      (Int(bitPattern: window.baseAddress), window.count),
    ]
    let own = starts.map { $0.0..<($0.0 + $0.1) }
    while let hit = unsafe keytree_search(
      content.baseAddress.map { unsafe $0 + offset }, content.count - offset, needle.baseAddress,
      needle.count, 0, needle.count - 1, 0),
      let start = content.baseAddress
    {
      let place = unsafe hit - start
      if !own.contains(where: { $0.contains(address + place) }) { found += 1 }
      offset = place + 1
    }
    return found
  }
}
