internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Terminal

/// Makes changes of people and groups, and reports their effects on items.
struct TeamChangeRun {
  private let call: CommandCall
  private let keyring: Keyring

  init(_ call: CommandCall, _ keyring: Keyring) { (self.call, self.keyring) = (call, keyring) }

  /// Makes a planned change.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - subject: The commit subject.
  ///   - evenIfRevokedHere: True to sign also with a key that the user's own keyring revokes.
  ///   - isInterim: True if another change follows that belongs to this one.
  /// - Returns: The keyring with the new people.
  @discardableResult
  func make(
    _ change: TeamChange, _ subject: String, evenIfRevokedHere: Bool = false, isInterim: Bool = false
  ) throws -> Keyring {
    try call.separateChanges(of: change.items, in: keyring)
    let progress = WorkProgress("encrypt", console: call.console)
    defer { progress.finish() }
    return try call.make(
      change, of: keyring, subject: subject, evenIfRevokedHere: evenIfRevokedHere, isInterim: isInterim
    ) { progress.advance(to: $0, of: $1) }
  }

  /// Reports how many items were re-encrypted, and how many wait for the key of a member.
  func report(_ change: TeamChange) {
    if !change.items.isEmpty { call.console.say(Self.words(change.items.count)) }
    if change.waiting > 0 {
      call.console.complain(
        "keytree: warning: \(change.waiting == 1 ? "1 item keeps its" : "\(change.waiting) items keep their") old "
          + "recipients, because the key of another member of the group cannot be used")
      call.console.complain(
        "hint: when that key is renewed or the member is removed, the items are re-encrypted")
    }
  }

  /// Returns the sentence about re-encrypted items.
  static func words(_ count: Int) -> String {
    count == 1 ? "Re-encrypted 1 item." : "Re-encrypted \(count) items."
  }

  /// The number of items that are listed for review.
  private static let shownItems = 20

  /// Lists the items that a key has signed which others may have used. This user's signature has replaced its signatures.
  ///
  /// - Parameters:
  ///   - items: The items.
  ///   - reason: The state of the key, as a sentence without its period.
  func tellSigned(_ items: [ItemRecord], _ reason: String) {
    if items.isEmpty { return }
    call.console.complain(
      "\(reason). \(items.count == 1 ? "1 item was" : "\(items.count) items were") last signed with it; your signature "
        + "replaces it. Check them:")
    for record in items.prefix(Self.shownItems) { call.console.complain("  " + call.name(of: record)) }
    if items.count > Self.shownItems { call.console.complain("  and \(items.count - Self.shownItems) more") }
  }

  /// The number of secrets that are listed after a removal; `rotate status` lists all.
  private static let shownSecrets = 20

  /// Lists the secrets that a former reader may have kept.
  func tellRotation() {
    // Reading a long history takes seconds, and with `--quiet` the result would not be printed.
    if call.globals.quiet { return }
    do {
      let rotations = try Rotations(call, keyring)
      let open = rotations.list.entries(.open)
      if open.isEmpty {
        return call.console.say("No secret has to be changed.")
      }
      call.console.say(
        open.count == 1
          ? "This secret has to be changed, because a former reader may have kept it:"
          : "These \(open.count) secrets have to be changed, because former readers may have kept them:")
      for entry in open.prefix(Self.shownSecrets) {
        call.console.say("  " + call.name(of: entry.record))
      }
      rotations.reportGaps(call.console)
      call.console.say("hint: `keytree rotate status` lists them all; `keytree rotate next` changes one.")
    } catch {
      // The change is made, and the user can request the list again.
      for line in ErrorReport(describing: error).lines { call.console.complain(line) }
      call.console.complain("hint: `keytree rotate status` lists the secrets that have to be changed")
    }
  }
}
