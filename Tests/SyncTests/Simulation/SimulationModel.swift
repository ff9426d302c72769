/// The secrets that the program has acknowledged, and the people who have replaced or deleted them.
///
/// Every secret of a simulation is a different text, so a secret can be found wherever the program has put it.
struct SimulationModel {
  /// The state of a secret.
  struct Secret {
    /// The seats that have stored it, or have restored it from the history.
    var authors: Set<Int> = []
    /// The seats at which it was replaced or deleted. A seat can do this only to a secret that its clone has.
    var released: Set<Int> = []
    /// The seats at which an item or a conflict copy with it was discarded, although the clone still had another one. If
    /// two seats do this, each may discard the one that the other one keeps.
    var discarded: Set<Int> = []
    /// True if it was replaced or deleted at any seat, even if it was brought back there.
    var wasReleased = false
    /// True if others have refused it, because no member of the group of the item has signed it, and the author was
    /// told.
    var isRefused = false
  }

  private(set) var secrets: [String: Secret] = [:]

  /// The secrets that must still be in the store.
  var kept: Set<String> { Set(secrets.keys.filter { !isReleased($0) }) }

  /// Returns true if a secret was replaced or deleted on purpose, or refused.
  func isReleased(_ text: String) -> Bool {
    guard let secret = secrets[text] else { return true }
    return !secret.released.isEmpty || secret.discarded.count > 1 || secret.isRefused
  }

  /// Returns true if a secret was replaced or deleted at a seat and brought back. Another clone may receive only the
  /// first of these changes.
  func wasBroughtBack(_ text: String) -> Bool {
    secrets[text].map { $0.released.isEmpty && $0.wasReleased } ?? false
  }

  /// Notes that an author was told that others have refused a secret.
  mutating func noteRefusal(of text: String) { secrets[text]?.isRefused = true }

  /// Notes the effect of a command on the secrets of a clone.
  ///
  /// - Parameters:
  ///   - seat: The seat at which the command ran.
  ///   - filesBefore: The secrets before the command, each with the files that contain it.
  ///   - filesAfter: Those after it.
  ///   - intent: The purpose of the command.
  ///   - isDone: True if the command has reported success.
  /// - Throws: `SimulationFailure` if a secret is lost, or was not stored although the command reported success.
  mutating func note(
    _ seat: Int, _ filesBefore: [String: Set<String>], _ filesAfter: [String: Set<String>],
    _ intent: SimulationIntent, isDone: Bool
  ) throws {
    let (before, after) = (Set(filesBefore.keys), Set(filesAfter.keys))
    let lost = before.subtracting(after)
    let gained = after.subtracting(before)
    guard lost.isSubset(of: intent.old) else {
      throw SimulationFailure("a command has lost \(lost.subtracting(intent.old).sorted())")
    }
    guard gained.isSubset(of: intent.new) else {
      throw SimulationFailure("a command has created \(gained.subtracting(intent.new).sorted())")
    }
    if isDone, !intent.new.isSubset(of: after) {
      throw SimulationFailure("a command has not stored \(intent.new.sorted())")
    }
    if intent.replaces, !lost.isEmpty, gained.isEmpty {
      throw SimulationFailure("a command has removed \(lost.sorted()) without storing another secret")
    }
    for text in isDone ? gained.union(intent.new) : gained {
      secrets[text, default: Secret()].authors.insert(seat)
    }
    for text in gained {
      // A deletion at another seat may not have been received yet.
      secrets[text]?.released.remove(seat)
    }
    // A failed command may also have discarded one of several files with the same secret.
    for text in intent.old.subtracting(lost)
    where filesAfter[text, default: []].count < filesBefore[text, default: []].count {
      secrets[text]?.discarded.insert(seat)
    }
    for text in lost {
      secrets[text]?.released.insert(seat)
      secrets[text]?.wasReleased = true
    }
  }
}

/// The purpose of a command.
struct SimulationIntent {
  /// The secrets that the command may remove from the store.
  var old: Set<String> = []
  /// The secrets that it stores.
  var new: Set<String> = []
  /// True if a secret may be removed only together with the storage of the new one.
  var replaces = false
}
