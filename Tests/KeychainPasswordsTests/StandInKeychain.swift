import Foundation
import KeychainServices
import Synchronization
import TestSupport

@testable import KeychainPasswords

/// Answers in the place of Apple's functions, and keeps what they were asked.
final class StandInKeychain: @unchecked Sendable {
  // Unchecked, because dictionaries of anything are not Sendable; all of them lie behind the lock.
  enum Function { case add, find, update, delete }

  struct Call {
    let function: Function
    let query: NSDictionary
    let changes: NSDictionary
  }

  private let lock = NSLock()
  private var kept: [Call] = []
  private let answer: @Sendable (Function, _ number: Int) -> (status: OSStatus, result: Any?)

  /// - Parameter answer: The answer to a function's call with this number, from 0 on.
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
  /// A keychain with one item, which is found and can be changed.
  static func holding(_ item: [String: any Sendable]) -> StandInKeychain {
    StandInKeychain { function, number in
      guard function == .find else { return (errSecSuccess, nil) }
      // Looked up first, read second.
      return number == 0 ? (errSecSuccess, [item]) : (errSecSuccess, item)
    }
  }

  /// A keychain with nothing in it.
  static func empty() -> StandInKeychain {
    StandInKeychain { function, _ in (function == .add ? errSecSuccess : errSecItemNotFound, nil) }
  }
}
