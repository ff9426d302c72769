import Foundation
import Testing

@testable import KeychainServices

/// Tests that a context keeps its settings and never unlocks anything.
@Suite(.serialized)
struct LocalAuthenticationTests {
  @Test func `a context keeps its settings`() {
    let context = LAContext()
    #expect(!context.interactionNotAllowed && context.localizedReason.isEmpty)
    context.interactionNotAllowed = true
    context.localizedReason = "reason"
    context.localizedFallbackTitle = ""
    context.localizedCancelTitle = "cancel"
    context.touchIDAuthenticationAllowableReuseDuration = LATouchIDAuthenticationMaximumAllowableReuseDuration
    #expect(context.interactionNotAllowed && context.localizedReason == "reason")
    #expect(context.localizedFallbackTitle == "" && context.localizedCancelTitle == "cancel")
    #expect(context.touchIDAuthenticationAllowableReuseDuration == 300)
    #expect(context.biometryType == .none && context.evaluatedPolicyDomainState == nil)
    #expect(!context.isInvalidated)
    context.invalidate()
    #expect(context.isInvalidated)
  }

  @Test(arguments: [LAPolicy.deviceOwnerAuthentication, .deviceOwnerAuthenticationWithBiometrics])
  func `no policy can be evaluated`(policy: LAPolicy) async {
    let context = LAContext()
    var error: NSError?
    let canEvaluate = unsafe context.canEvaluatePolicy(policy, error: &error)
    #expect(!canEvaluate)
    #expect(error?.domain == LAErrorDomain && error?.code == LAError.biometryNotAvailable.rawValue)
    await #expect(throws: LAError(.biometryNotAvailable)) {
      try await context.evaluatePolicy(policy, localizedReason: "reason")
    }
    context.interactionNotAllowed = true
    await #expect(throws: LAError(.notInteractive)) {
      try await context.evaluatePolicy(policy, localizedReason: "reason")
    }
    context.invalidate()
    await #expect(throws: LAError(.invalidContext)) {
      try await context.evaluatePolicy(policy, localizedReason: "reason")
    }
  }

  @Test func `a reply reports failure`() async {
    let answer = await withCheckedContinuation { continuation in
      LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "reason") { success, error in
        continuation.resume(returning: (success, (error as? LAError)?.code))
      }
    }
    #expect(!answer.0 && answer.1 == .biometryNotAvailable)
  }

  @Test func `an error can be caught by its name and bridges to NSError`() {
    do {
      throw LAError(.userCancel)
    } catch LAError.userCancel {
    } catch {
      Issue.record("not caught by its name")
    }
    let error = LAError(.userCancel) as NSError
    #expect(error.domain == "com.apple.LocalAuthentication" && error.code == -2)
  }
}
