internal import Secrets

/// The limit for the total size of the attached files in one import, or of the values that references repeat.
///
/// A file of a few kilobytes can refer to one compressed attachment many thousand times. Each reference becomes a
/// separate field, so each one counts.
struct AttachmentRoom {
  /// The largest total size: 256 MiB.
  static let limit = 256 << 20
  private var left = limit

  /// Counts a file.
  ///
  /// - Parameter content: the content of the file.
  /// - Returns: false if there is no room for it.
  mutating func take(_ content: SecretSlice) -> Bool {
    guard content.count <= left else { return false }
    left -= content.count
    return true
  }

  /// The loss that is reported for a file without room.
  static let loss = ImportLoss.noPlace("the attached files are larger than \(limit) bytes in total")
}
