import CSystem
import Foundation
import Glibc
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// What is left of a secret in the memory of this process when everyone has let go of it (threat T30).
@Suite struct ResidueTests {
  @Test func `Nothing is left of a secret that was sealed and opened`() throws {
    let home = try GnuPGHome(secret: [.alice])
    let engine = Engine(home, people: [.alice])
    // Only this copy stays; the search knows its place.
    var marker = SecretBytes()
    for _ in 0..<32 { marker.append(UInt8.random(in: 0 ... .max)) }
    do {
      var secret = SecretBytes()
      // Larger than every buffer on the way, so that all of them are used.
      for _ in 0..<2000 { secret.append(marker) }
      let sealed = try engine.seal(secret, to: [GnuPGKey.alice.fingerprint])
      let opened = try engine.open(sealed, limit: 1 << 20)
      let isSame = opened.isEqual(to: secret)
      #expect(isSame)
      let places = try Self.places(of: marker)
      #expect(places > 2000)
      // Both are still in use up to here.
      let sizes = [secret.count, opened.count]
      #expect(sizes == [64_000, 64_000])
    }
    #expect(try Self.places(of: marker) == 0)
  }

  // How often the bytes occur in writable memory, apart from where they are given.
  private static func places(of marker: borrowing SecretBytes) throws -> Int {
    let memory = unsafe open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
    try #require(memory >= 0)
    defer { close(memory) }
    let window = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { unsafe window.deallocate() }
    // Not by a path: such a file says that it has no bytes, and is read in part then.
    let list = try #require(FileHandle(forReadingAtPath: "/proc/self/maps"))
    let maps = String(decoding: try #require(try list.readToEnd()), as: UTF8.self)
    var found = 0
    for line in maps.split(separator: "\n") where line.split(separator: " ")[1].hasPrefix("rw") {
      let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { Int($0, radix: 16) }
      var start = ends[0]
      while start < ends[1] {
        let size = min(window.count, ends[1] - start)
        // A mapping may have gone since the list was made.
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
    while let hit = unsafe keytree_memmem(
      content.baseAddress.map { unsafe $0 + offset }, content.count - offset, needle.baseAddress,
      needle.count),
      let start = content.baseAddress
    {
      let place = unsafe hit - start
      if !own.contains(where: { $0.contains(address + place) }) { found += 1 }
      offset = place + 1
    }
    return found
  }
}
