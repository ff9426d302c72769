import Foundation
import Security
import Testing

/// Idioms of code that was written for Apple's keychain.
struct NamesTests {
  @Test func `Swift's values become objects`() {
    #expect((["a": 1] as [String: Any] as CFDictionary).count == 1)
    #expect(kCFBooleanTrue as? Bool == true)
  }
}
