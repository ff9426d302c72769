internal import Encoding
internal import Keyring
internal import KeyringModel
internal import Terminal

/// Warnings about items with dates in the future. A merge takes the version with the later date, so that such an item
/// wins over real changes until that date. No command can correct the date, because a new version is never older than
/// the one that it replaces.
extension CommandCall {
  /// The difference between clocks that is not reported, in microseconds: 10 minutes.
  private static let clockTolerance: Int64 = 600 * 1_000_000

  /// Warns of an item that was just stored, if it is dated in the future.
  func warnOfFutureDate(of record: ItemRecord) {
    guard let date = futureDate(of: record) else { return }
    warn(name(of: record), date)
    console.complain(
      "hint: check the clock with `date`. If it is right, the clock of the machine that made an earlier version was "
        + "wrong; until that date, this version wins over changes that are merged with it")
  }

  /// Warns of all items that are dated in the future, with the number of those that are not listed.
  ///
  /// - Throws: `KeyringError` if the index cannot be read.
  package func warnOfFutureDates() throws {
    var all = Query()
    all.includesFields = true
    let found = try openIndex().find(all).items.compactMap { record in
      futureDate(of: record).map { (record: record, date: $0) }
    }
    for (record, date) in found.prefix(Self.problemLimit) { warn(name(of: record), date) }
    if found.count > Self.problemLimit {
      console.complain(
        "keytree: warning: \(found.count - Self.problemLimit) more items are dated in the future")
    }
    if !found.isEmpty {
      console.complain(
        "hint: check the clock with `date`. If it is right, another machine's clock was wrong; until that date, these "
          + "versions win over changes that are merged with them")
    }
  }

  private func warn(_ name: String, _ date: Timestamp) {
    console.complain("keytree: warning: \(name) is dated \(date.second), which is in the future")
  }

  /// Returns the latest date of an item if it is in the future.
  private func futureDate(of record: ItemRecord) -> Timestamp? {
    let date = max(record.created, record.modified, record.secretModified)
    return date.microseconds > environment.clock().microseconds + Self.clockTolerance ? date : nil
  }
}
