import Foundation
import KeychainPasswords
import KeychainServices
import KeychainTestSupport
import Testing

@Suite(.serialized)
struct KeychainErrorTests {
  private static let statuses: [(KeychainError, OSStatus)] = [
    (.itemNotFound, -25300), (.duplicateItem, -25299), (.userCanceled, -128),
    (.interactionNotAllowed, -25308), (.authenticationFailed, -25293), (.notAvailable, -25291),
    (.readOnly, -25292), (.invalidParameter, -50), (.missingEntitlement, -34018), (.damaged, -26275),
    (.dataTooLarge, -25302), (.unimplemented, -4), (.other(-34), -34), (.other(12345), 12345),
  ]

  @Test("a status maps to one error, and the error keeps the status", arguments: statuses)
  func status(_ error: KeychainError, _ status: OSStatus) {
    #expect(KeychainError(status: status) == error)
    #expect(error.status == status)
    KeychainWorld.lock.withLock {
      #expect(error.description == SecCopyErrorMessageString(status, nil) as String?)
      #expect((error as any Error).localizedDescription == error.description)
    }
  }

  private static let ownWords: [(KeychainError, OSStatus)] = [
    (.ambiguousItem, -909), (.valueNotEncodable, -50), (.valueNotDecodable, -26275), (.taskCancelled, -128),
  ]

  @Test("an error without a call has the nearest status and its own message", arguments: ownWords)
  func nearest(_ error: KeychainError, _ status: OSStatus) {
    #expect(error.status == status)
    #expect(KeychainError(status: status) != error)
    #expect(error.description != KeychainError(status: status).description)
    #expect(error.description.hasSuffix("."))
  }
}
