import Foundation
import TestSupport
import Testing

/// A change in the life of a key, and the abilities of the team before and after the store knows it.
struct KeyEvent: Sendable, CustomTestStringConvertible {
  /// A command that imports the change.
  struct Import: Sendable {
    var person = KeyLifeWorld.Person.owner
    /// The command. `OWNER`, `MEMBER`, `NEW`, `FILE` and `NEWKEY` are replaced by fingerprints and paths.
    var words = ["group", "refresh"]
    var code: Int32 = 0
    /// Part of the output; nil for any.
    var prints: String?
  }

  let name: String
  /// The simulated time at which the team uses the store.
  var now = "2030-06-01 12:00:00"
  /// Changes that the store knows before the event.
  var prelude: @Sendable (KeyLifeWorld) throws -> Void = { _ in }
  /// The event, on the machine of the owner.
  let happen: @Sendable (KeyLifeWorld) throws -> Void
  /// The state before the change is imported.
  var before = KeyState.fine
  /// The commands that import the change.
  var imports = [Import()]
  /// Part of the output of `rotate status` after the import; nil for any.
  var rotation: String?
  /// The person whose key the import replaces by the one in `NEWKEY`.
  var replaces: KeyLifeWorld.Person?
  /// The state after the import.
  var after = KeyState.fine

  var testDescription: String { name }
}

extension KeyEvent.Import {
  /// Imports the owner's changed key, confirmed by its fingerprint.
  static let confirmed = Self(words: ["group", "refresh", "--fingerprint", "OWNER"])
  /// An admin imports the owner's exported key.
  static let byAdmin = Self(person: .admin, words: ["group", "refresh", "FILE"], prints: "Renewed")
  /// The import is refused, because the key is revoked.
  static let refused = Self(code: 10, prints: "`keytree group replace ")

  /// Runs the command.
  func run(_ world: KeyLifeWorld) throws {
    let answer = try world.keytree(person, try words.map(world.resolve))
    #expect(answer.code == code, "\(person) \(words): \(answer.code), not \(code): \(answer.all)")
    if let prints { #expect(answer.all.contains(prints), "\(person) \(words): no \(prints): \(answer.all)") }
  }
}
