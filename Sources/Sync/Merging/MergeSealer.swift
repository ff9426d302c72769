internal import Keyring
internal import KeyringModel

/// What a merge needs a key, or at least the packets of a message, for.
final class MergeSealer {
  /// The messages that were sealed.
  private(set) var sealed: [ContentDigest: [UInt8]] = [:]
  /// What went wrong with git.
  private(set) var error: SyncError?

  private let keyring: Keyring
  private let read: (MergeSide, ItemPath) throws(SyncError) -> [UInt8]?
  /// Whoever refuses one passphrase is not asked for the next (threat T36).
  private var hasGivenUp = false

  init(keyring: Keyring, objects: ObjectReader, ours: String, theirs: String, prefix: String) {
    self.keyring = keyring
    read = { side, path throws(SyncError) in
      let commit = side == .ours ? ours : theirs
      let name = "\(commit):\(prefix)\(StoreLayout.itemFile(path, isLocal: false))"
      return try objects.contents(of: [name])[name]
    }
  }

  /// Decides between two messages with the same secret.
  func prefer(_ ours: ItemRecord, _ theirs: ItemRecord) -> MergeSide {
    let isRight = [MergeSide.ours, .theirs].map { side in
      let record = side == .ours ? ours : theirs
      return message(side, record.path).map { keyring.isSealed($0, to: record.group) } ?? false
    }
    return Self.preferred(ours, theirs, isRight: isRight)
  }

  /// Of two messages with the same secret the one that is sealed to the members of its group, else the same one on
  /// every clone.
  static func preferred(_ ours: ItemRecord, _ theirs: ItemRecord, isRight: [Bool]) -> MergeSide {
    if isRight[0] != isRight[1] { return isRight[0] ? .ours : .theirs }
    return StoreMerge().prefer(ours, theirs)
  }

  /// Seals the secret of a side for a merged record; nil where that cannot be done here and now.
  func seal(_ record: ItemRecord, _ source: StoreMerge.Source) -> ItemRecord? {
    guard !hasGivenUp, let message = message(source.side, source.path) else { return nil }
    do {
      guard let result = try keyring.seal(record, secretOf: message) else { return nil }
      sealed[result.record.sealed] = result.message
      return result.record
    } catch {
      hasGivenUp = true
      return nil
    }
  }

  private func message(_ side: MergeSide, _ path: ItemPath) -> [UInt8]? {
    do {
      return try read(side, path)
    } catch {
      self.error = error
      return nil
    }
  }
}
