import FileSystem
import KeyringModel
import Secrets
import Synchronization
import Testing

@testable import Keyring

/// Tests the decrypted secrets that stay in memory: how long, how many, and when they are wiped.
@Suite(.serialized) struct KeptSecretsTests {
  /// The clock, and the work that would run on a thread.
  private final class World: Sendable {
    static let second: Int64 = 1_000_000_000
    let elapsed = Atomic(5 * World.second)
    let body = Mutex<(@Sendable () -> Void)?>(nil)
    let pauses = Mutex<[Int64]>([])

    /// Creates secrets that are kept for ten seconds.
    func secrets(startsThreads: Bool = true) -> KeptSecrets {
      var clock = FileClock()
      clock.elapsed = { self.elapsed.load(ordering: .relaxed) }
      return KeptSecrets(lifetime: .seconds(10), clock: clock) { body in
        self.body.withLock { $0 = body }
        return startsThreads
      } pause: { time in
        self.pauses.withLock { $0.append(time) }
        self.elapsed.add(time, ordering: .relaxed)
      }
    }

    func wait(_ seconds: Int64) { elapsed.add(seconds * Self.second, ordering: .relaxed) }
  }

  private static func digest(_ number: Int) -> ContentDigest { ContentDigest(of: Array("\(number)".utf8)) }

  private static func text(_ secrets: KeptSecrets, _ number: Int) -> String? {
    guard let secret = secrets.secret(of: digest(number)) else { return nil }
    return unsafe secret.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }

  private static func keep(_ number: Int, in secrets: KeptSecrets, count: Int = 0) {
    let bytes = Array("secret \(number)".utf8) + [UInt8](repeating: 0x20, count: count)
    secrets.keep(SecretBytes(copying: bytes), of: digest(number))
  }

  @Test func `a secret is found by the digest of its encrypted file until its time ends`() {
    let world = World()
    let secrets = world.secrets()
    Self.keep(1, in: secrets)
    world.wait(6)
    Self.keep(2, in: secrets)
    #expect(Self.text(secrets, 1) == "secret 1")
    #expect(Self.text(secrets, 3) == nil)
    // Neither reading a secret nor keeping it again extends its time.
    Self.keep(1, in: secrets)
    world.wait(4)
    #expect(Self.text(secrets, 1) == nil)
    #expect(Self.text(secrets, 2) == "secret 2")
    #expect(secrets.count == 1)
  }

  @Test func `secrets are wiped when their time ends, without a further call`() throws {
    let world = World()
    let secrets = world.secrets()
    Self.keep(1, in: secrets)
    world.wait(3)
    Self.keep(2, in: secrets)
    let thread = try #require(world.body.withLock { $0 })
    thread()
    #expect(world.pauses.withLock { $0 } == [7 * World.second, 3 * World.second])
    #expect(secrets.count == 0)
    // The thread has ended, so the next secret needs a new one.
    world.body.withLock { $0 = nil }
    Self.keep(3, in: secrets)
    #expect(world.body.withLock { $0 != nil })
  }

  @Test func `the thread ends after the keyring was closed, before the time of its secrets ends`() throws {
    let kept = Mutex<KeptSecrets?>(nil)
    let body = Mutex<(@Sendable () -> Void)?>(nil)
    let pauses = Mutex(0)
    let secrets = KeptSecrets(lifetime: .seconds(3600), clock: FileClock()) { work in
      body.withLock { $0 = work }
      return true
    } pause: { _ in
      pauses.withLock { $0 += 1 }
      // The keyring is closed while the thread sleeps.
      kept.withLock { $0 }?.forgetAll()
    }
    kept.withLock { $0 = secrets }
    Self.keep(1, in: secrets)
    let thread = try #require(body.withLock { $0 })
    thread()
    #expect(pauses.withLock { $0 } == 1)
    kept.withLock { $0 = nil }
  }

  @Test func `nothing is kept if there is no thread that wipes it`() {
    let secrets = World().secrets(startsThreads: false)
    Self.keep(1, in: secrets)
    #expect(secrets.count == 0)
  }

  @Test func `a secret can be wiped early`() {
    let secrets = World().secrets()
    for number in 1...3 { Self.keep(number, in: secrets) }
    secrets.forget(Self.digest(2))
    #expect([1, 2, 3].map { Self.text(secrets, $0) } == ["secret 1", nil, "secret 3"])
    secrets.forgetAll()
    #expect(secrets.count == 0)
    Self.keep(4, in: secrets)
    #expect(Self.text(secrets, 4) == "secret 4")
  }

  @Test func `the oldest secrets make room for new ones`() {
    let secrets = World().secrets()
    for number in 0..<KeptSecrets.countLimit + 2 { Self.keep(number, in: secrets) }
    #expect(secrets.count <= KeptSecrets.countLimit)
    #expect(Self.text(secrets, 0) == nil)
    #expect(Self.text(secrets, KeptSecrets.countLimit + 1) != nil)
    for number in 0..<5 { Self.keep(10_000 + number, in: secrets, count: 1 << 20) }
    #expect(secrets.count <= 3, "more than 1 MiB each, with whole pages")
    Self.keep(20_000, in: secrets, count: KeptSecrets.byteLimit)
    #expect(Self.text(secrets, 20_000) == nil)
  }
}
