internal import Secrets

/// How many bytes the attached files of one import may have together.
///
/// A file of a few kilobytes can name one packed attachment many thousand times. Each becomes a field of its own, so
/// each counts.
struct AttachmentRoom {
  /// The most bytes of all of them: 256 MiB.
  static let limit = 256 << 20
  private var left = limit

  /// Takes a file in.
  ///
  /// - Parameter content: What it holds.
  /// - Returns: False when there is no room for it.
  mutating func take(_ content: SecretSlice) -> Bool {
    guard content.count <= left else { return false }
    left -= content.count
    return true
  }

  /// What is told of a file that has no room.
  static let loss = ImportLoss.noPlace("the files have more than \(limit) bytes together")
}
