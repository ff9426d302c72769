import Secrets
import TestSupport
import Testing
@testable import Encoding
@testable import PasswordAudit

@Suite("Comparison of secrets", .serialized)
struct RepeatedSecretsTests {
  @Test("equal secrets are found, in whatever order they were added")
  func repeated() throws {
    let secrets = ["a", "b", "a", "", "c", "b", "a", ""]
    let comparison = RepeatedSecrets(capacity: 1)
    let places = try secrets.map { try comparison.add(SecretBytes(text: $0)) }
    #expect(Set(places).count == secrets.count)
    let expected = [[0, 2, 6], [1, 5], [3, 7]].map { numbers in Set(numbers.map { places[$0] }) }
    #expect(Set(comparison.repeated.map { Set($0) }) == Set(expected))
    #expect(RepeatedSecrets(capacity: 0).repeated.isEmpty)
  }

  @Test("a digest is HMAC with SHA-256 (RFC 4231, test case 2)")
  func standard() throws {
    let function = KeyedDigest(key: SecretBytes(text: "Jefe"))
    let digest = try function.digest(of: SecretBytes(text: "what do ya want for nothing?"))
    let hexadecimal = unsafe digest.withBytes { unsafe Hexadecimal.text($0) }
    #expect(hexadecimal == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
  }

  @Test("a digest depends on the key and the secret")
  func digests() throws {
    let first = KeyedDigest()
    let second = KeyedDigest()
    let digest = try first.digest(of: SecretBytes(text: "a"))
    #expect(digest.count == KeyedDigest.size)
    let isSame = digest.isEqual(to: try first.digest(of: SecretBytes(text: "a")))
    let dependsOnSecret = !digest.isEqual(to: try first.digest(of: SecretBytes(text: "b")))
    let dependsOnKey = !digest.isEqual(to: try second.digest(of: SecretBytes(text: "a")))
    #expect(isSame && dependsOnSecret && dependsOnKey)
  }

  @Test("the SHA-1 of a secret is that of its bytes", arguments: ["", "abc", "password"])
  func sha1(_ text: String) {
    let hash = SHA1.digest(of: SecretBytes(text: text))
    let isSame = hash.isEqual(to: SecretBytes(copying: SHA1.digest(of: Array(text.utf8))))
    #expect(isSame)
  }
}
