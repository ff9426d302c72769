import Foundation
import TestSupport
import Testing

/// The operations of a team, with the expected result of each one in a state of the owner's key.
struct KeyMatrix {
  /// A phase of an event: before the store knows the change of the key, or after it.
  enum Phase: String, CaseIterable { case before, after }

  let world: KeyLifeWorld
  let phase: Phase
  let state: KeyState

  /// What an operation needs from the keys.
  enum Need: Sendable {
    /// No secret key.
    case nothing
    /// A store without findings about keys.
    case usableKeys
    /// A clock that is not behind the creation of a key.
    case clock
    /// The secret of an encryption subkey.
    case reading
    /// The secret of the encryption subkey that the owner had at first, and a valid signature of the owner.
    case readingOldVersion
    /// A valid signature of the owner.
    case restoring
    /// A signature.
    case signing
    /// A signature, and encrypting to the group `default`.
    case encrypting
    /// A key that can be imported.
    case refreshing
  }

  /// An operation of one or more people.
  struct Operation: Sendable {
    let name: String
    var people = KeyLifeWorld.Person.team
    let need: Need
    /// Part of the output, or of the messages, if the operation succeeds.
    var prints: String?
    /// True if the operation changes the policy, so that others must receive it before they change it.
    var changesPolicy = false
    /// The only phase in which the operation is possible; nil for both.
    var phase: Phase?
    let run: @Sendable (KeyMatrix, KeyLifeWorld.Person) throws -> KeyLifeWorld.Answer
  }

  /// Runs operations as all of their people, and compares each result with the expected one.
  ///
  /// - Returns: The number of results.
  @discardableResult
  func check(_ operations: [Operation]) throws -> Int {
    var count = 0
    for operation in operations where operation.phase == nil || operation.phase == phase {
      for person in operation.people {
        if operation.changesPolicy { try synchronize(person) }
        expect(try operation.run(self, person), operation, person)
        if operation.changesPolicy { try synchronize(person) }
        count += 1
      }
    }
    return count
  }

  private func synchronize(_ person: KeyLifeWorld.Person) throws {
    let answer = try world.keytree(person, ["sync"])
    #expect(answer.code == 0, "\(phase): \(person) sync: \(answer.all)")
  }

  private func expect(
    _ answer: KeyLifeWorld.Answer, _ operation: Operation, _ person: KeyLifeWorld.Person
  ) {
    let what = "\(phase): \(person) \(operation.name)"
    guard let refusal = state.refusal(of: operation.need, person) else {
      #expect(answer.code == 0, "\(what): \(answer.code), not 0: \(answer.all)")
      if let text = operation.prints { #expect(answer.all.contains(text), "\(what): \(answer.all)") }
      return
    }
    #expect(answer.code == refusal.code, "\(what): \(answer.code), not \(refusal.code): \(answer.all)")
    #expect(answer.all.contains(refusal.message), "\(what): no \(refusal.message): \(answer.all)")
  }

  /// Runs keytree, with the names of this phase and person in place of `%`.
  func keytree(
    _ person: KeyLifeWorld.Person, _ words: [String], input: String = ""
  ) throws -> KeyLifeWorld.Answer {
    let name = KeyLifeStore.name(phase, person)
    return try world.keytree(person, words.map { $0.replacing("%", with: name) }, input: input)
  }
}

/// The abilities of the team in a state of the owner's key.
struct KeyState: Sendable {
  /// The expected result of an operation that must fail.
  struct Refusal: Sendable {
    let code: Int32
    /// Part of the message.
    let message: String
  }

  /// The refusal if the owner cannot read.
  var reading: Refusal?
  /// The refusal if the owner cannot read old versions.
  var oldVersions: Refusal?
  /// True if an item that is restored must be re-encrypted, for which its old version must be read.
  var reencryptsRestored = false
  /// The refusal if the owner cannot sign.
  var signing: Refusal?
  /// The refusal if the member cannot sign.
  var memberSigning: Refusal?
  /// The refusal if no member can encrypt to the owner.
  var encrypting: Refusal?
  /// The refusal if the owner cannot import their changed key.
  var refreshing: Refusal?
  /// Part of the finding if the clock is behind.
  var clock: String?
  /// True if the subkey that signed old versions is revoked as compromised, so that they cannot be used.
  var compromised = false
  /// True if `check` and `doctor` report the owner's key to all members.
  var isFinding = false

  /// Everything works.
  static let fine = KeyState()

  /// The owner cannot sign.
  static func cannotSign(_ message: String) -> KeyState {
    KeyState(signing: Refusal(code: 10, message: message))
  }

  /// The owner cannot sign, because all signing subkeys have expired.
  static func signingExpired(_ message: String) -> KeyState {
    KeyState(signing: Refusal(code: 10, message: message), isFinding: true)
  }

  /// No member can encrypt to the owner, who can sign.
  static func cannotEncrypt(_ message: String) -> KeyState {
    KeyState(encrypting: Refusal(code: 10, message: message), isFinding: true)
  }

  /// The owner can neither sign nor be encrypted to.
  ///
  /// - Parameters:
  ///   - message: Part of the message to the owner.
  ///   - others: Part of the message to the others.
  ///   - member: Part of the message to the member if they cannot sign either.
  static func unusable(_ message: String, _ others: String, member: String? = nil) -> KeyState {
    KeyState(
      signing: Refusal(code: 10, message: message),
      memberSigning: member.map { Refusal(code: 10, message: $0) },
      encrypting: Refusal(code: 10, message: others), isFinding: true)
  }

  private var clockFinding: Refusal? { clock.map { Refusal(code: 13, message: $0) } }

  private var restoring: Refusal? {
    compromised ? Refusal(code: 8, message: "which is revoked as compromised") : nil
  }

  /// Returns the expected refusal of an operation; nil if it must succeed.
  func refusal(of need: KeyMatrix.Need, _ person: KeyLifeWorld.Person) -> Refusal? {
    let isOwner = person == .owner
    switch need {
    case .nothing: return nil
    case .usableKeys: return isFinding ? Refusal(code: 13, message: "cannot be used") : clockFinding
    case .clock: return clockFinding
    case .reading: return isOwner ? reading : nil
    case .readingOldVersion: return restoring ?? (isOwner ? oldVersions ?? reading : nil)
    case .restoring: return restoring ?? (isOwner && reencryptsRestored ? oldVersions : nil)
    case .refreshing: return isOwner ? refreshing : nil
    case .signing: return isOwner ? signing : person == .member ? memberSigning : nil
    case .encrypting: return isOwner ? signing ?? encrypting : encrypting
    }
  }
}
