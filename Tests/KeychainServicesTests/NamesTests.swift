import Foundation
import Security
import Testing

/// Tests idioms of code that was written for Apple's keychain.
@Suite(.serialized)
struct NamesTests {
  @Test func `Swift values become objects`() {
    #expect((["a": 1] as [String: Any] as CFDictionary).count == 1)
    #expect(kCFBooleanTrue as? Bool == true)
  }
}
