import Foundation
import KeychainServices
import Synchronization
import TestSupport

@testable import KeychainPasswords

/// Answers instead of Apple's functions, and records the calls.
final class StandInKeychain: @unchecked Sendable {
  // Unchecked, because dictionaries of `Any` are not Sendable. The lock protects all of them.
  enum Function { case add, find, update, delete }

  struct Call {
    let function: Function
    let query: NSDictionary
    let changes: NSDictionary
  }

  private let lock = NSLock()
  private var kept: [Call] = []
  private let answer: @Sendable (Function, _ number: Int) -> (status: OSStatus, result: Any?)

  /// - Parameter answer: Returns the answer to the call of a function with this number, counted from 0.
  init(_ answer: @escaping @Sendable (Function, Int) -> (status: OSStatus, result: Any?)) {
    self.answer = answer
  }

  var calls: [Call] { lock.withLock { kept } }

  func passwords(
    accessGroup: AccessGroup? = nil, interaction: Passwords.Interaction = .allowed, queue: CallQueue = .shared
  ) -> Passwords {
    let functions = ItemFunctions(
      add: { self.call(.add, $0).status }, find: { self.call(.find, $0) },
      update: { self.call(.update, $0, $1).status }, delete: { self.call(.delete, $0).status })
    return Passwords(accessGroup: accessGroup, interaction: interaction, functions: functions, queue: queue)
  }

  private func call(
    _ function: Function, _ query: [String: Any], _ changes: [String: Any] = [:]
  ) -> (status: OSStatus, result: Any?) {
    let number = lock.withLock {
      kept.append(Call(function: function, query: query as NSDictionary, changes: changes as NSDictionary))
      return kept.count { $0.function == function } - 1
    }
    return answer(function, number)
  }
}

extension StandInKeychain {
  /// Returns a keychain with one item, which can be found and changed.
  static func holding(_ item: [String: any Sendable]) -> StandInKeychain {
    StandInKeychain { function, number in
      guard function == .find else { return (errSecSuccess, nil) }
      // The first query looks the item up, and the second one reads it.
      return number == 0 ? (errSecSuccess, [item]) : (errSecSuccess, item)
    }
  }

  /// Returns an empty keychain.
  static func empty() -> StandInKeychain {
    StandInKeychain { function, _ in (function == .add ? errSecSuccess : errSecItemNotFound, nil) }
  }
}
