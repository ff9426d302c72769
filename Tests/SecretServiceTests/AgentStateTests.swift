import Foundation
import OpenPGP
import Synchronization
import Testing

@testable import SecretService

/// Tests that an agent that does not answer delays the service only briefly.
@Suite(.serialized) struct AgentStateTests {
  /// An agent that answers when the test lets it.
  private final class SlowAgent: KeyAgent {
    private let gate = Mutex(false)
    let queries = Tally()

    func open() { gate.withLock { $0 = true } }

    func isUnlocked() throws -> Bool {
      queries.add()
      while !gate.withLock({ $0 }) { Thread.sleep(forTimeInterval: 0.005) }
      return true
    }

    func forget() throws {}
    func roundTrip(_ cancellation: Cancellation) throws {}
    func confirm(_ question: String, _ cancellation: Cancellation) throws -> Bool { false }
  }

  @Test func `an agent that does not answer counts as locked, and is waited for once`() {
    let agent = SlowAgent()
    let clock = ManualClock()
    let state = AgentState(agent, clock: { clock.now }, patience: .milliseconds(1))
    for _ in 0..<100 {
      #expect(state.isLocked())
      clock.advance(.seconds(1))
    }
    // On a busy machine, the thread that asks starts later.
    for _ in 0..<6000 where agent.queries.count == 0 { Thread.sleep(forTimeInterval: 0.005) }
    #expect(agent.queries.count == 1)
    agent.open()
    // The late answer is not used; the agent is asked again.
    while state.isLocked() {}
    #expect(agent.queries.count >= 2)
  }
}
