import Keyring
import KeyringModel
import Secrets
import TestSupport

@testable import Credentials

/// A keyring that git queries, with a stand-in for GnuPG.
struct GitWorld {
  let store = StandInStore()
  let keyring: Keyring

  init() throws { keyring = try store.create() }

  /// Returns the helper at a time, in seconds since 1970.
  func helper(at now: Int64 = 1_800_000_000) -> GitCredentialHelper {
    let recent = RecentLogins(base: store.host.stateBase, keyring: keyring.policy.keyring)
    return GitCredentialHelper(keyring, recent: recent, now: Timestamp(microseconds: now * 1_000_000))
  }

  static func message(_ text: String) throws -> GitCredential {
    try GitCredential(SecretSlice(SecretBytes(text: text)))
  }

  func get(_ question: String, at now: Int64 = 1_800_000_000) throws -> String {
    guard let (answer, _) = try helper(at: now).get(try Self.message(question)) else { return "" }
    guard let text = answer.encoded() else { return "cannot be carried" }
    return text.text()
  }

  @discardableResult
  func store(_ credential: String) throws -> Bool { try helper().store(try Self.message(credential)) }

  @discardableResult
  func erase(_ credential: String) throws -> Int { try helper().erase(try Self.message(credential)) }

  @discardableResult
  func add(
    _ server: String, _ account: String, _ secret: String,
    _ more: KeyValuePairs<AttributeName, AttributeValue> = [:]
  ) throws -> ItemRecord {
    let bytes = SecretBytes(text: secret)
    return try keyring.add(.login(server, account, more), secret: bytes)
  }

  func items() throws -> [ItemRecord] { try keyring.find(Query()).items }
}
