internal import KeyringModel

// Anyone can bind another person's signing subkey to their own key. If gpg finds that key first, it refuses the
// signatures of the owner: only the owner's binding has a signature by the subkey (RFC 9580, 5.2.1.10), and gpg does not
// look for another key with the subkey. With the key of one person alone, gpg states whether that person has signed.

extension Engine {
  /// Verifies messages without a known signer again, with the key of each person alone who has a signing subkey of
  /// another person. Costs nothing if there are no such people.
  ///
  /// - Parameters:
  ///   - facts: The facts with all keys.
  ///   - messages: The messages.
  /// - Returns: The facts, with those of these people.
  /// - Throws: An engine error.
  func resolvingContests(
    _ facts: [SignatureFact?], of messages: [[UInt8]]
  ) throws(EngineError) -> [SignatureFact?] {
    // A message without a fact is not of the form that this program reads.
    func isOpen(_ fact: SignatureFact?) -> Bool { fact.map { $0.primary == nil } ?? false }
    guard facts.contains(where: isOpen) else { return facts }
    var facts = facts
    for engine in try enginesOfContestants() {
      let open = facts.indices.filter { isOpen(facts[$0]) }
      if open.isEmpty { break }
      let found = try engine.verifyMessages(open.map { messages[$0] })
      for (index, fact) in zip(open, found) where fact?.primary != nil { facts[index] = fact }
    }
    return facts
  }

  /// Verifies a detached signature again, like ``resolvingContests(_:of:)``.
  ///
  /// - Parameters:
  ///   - facts: The facts with all keys.
  ///   - signature: The signature.
  ///   - bytes: The signed bytes.
  /// - Returns: The facts, with those of these people.
  /// - Throws: An engine error.
  func resolvingContests(
    _ facts: [SignatureFact], of signature: [UInt8], over bytes: [UInt8]
  ) throws(EngineError) -> [SignatureFact] {
    guard facts.contains(where: { $0.primary == nil }) else { return facts }
    var facts = facts
    for engine in try enginesOfContestants() {
      guard facts.contains(where: { $0.primary == nil }) else { break }
      let found = try engine.verifyDetached(signature: signature, of: bytes)
      guard found.count == facts.count else { continue }
      for index in facts.indices where facts[index].primary == nil && found[index].primary != nil {
        facts[index] = found[index]
      }
    }
    return facts
  }

  private func enginesOfContestants() throws(EngineError) -> [any OpenPGPEngine] {
    try home().table.contestants.compactMap { person in
      maker.keys[person].map { with(keys: [person: $0]) }
    }
  }
}
