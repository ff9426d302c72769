import Encoding
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

@testable import Keyring

/// A GnuPG that cannot list keys says nothing about them.
@Suite struct SilentListingTests {
  private let failure = EngineError.incomplete(detail: "it did not list all keys")

  @Test func `a user whose keys cannot be listed does not seem to be removed`() throws {
    let store = StandInStore()
    let policy = try store.create().policy
    let other = EngineDouble.fingerprint(9)
    #expect(try store.engine.preferred(other, in: policy) == store.owner)
    store.engine.listingFailure = failure
    #expect(throws: KeyringError.engine(failure, nil)) {
      try store.engine.preferred(other, in: policy)
    }
    // The keys are not needed for this.
    #expect(try store.engine.preferred(store.owner, in: policy) == store.owner)
  }

  @Test func `the state of a key that cannot be listed is not reported`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    store.engine.makeUnusable(store.owner, .expired(Timestamp(microseconds: 0)))
    store.engine.listingFailure = failure
    #expect(throws: KeyringError.engine(failure, nil)) {
      try keyring.obstacle(of: store.owner, group: GroupName.default)
    }
  }
}
