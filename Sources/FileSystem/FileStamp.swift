internal import Glibc

/// Metadata that shows whether a file or folder has changed, without reading its content.
///
/// The file system sets `mtime` at each change of the content and `ctime` at each change of any kind. It takes the
/// times from a clock that ticks every 1 to 10 ms, so the second of two changes within one tick does not change the
/// stamp. ``isFresh(at:)`` detects this case.
package struct FileStamp: Equatable, Sendable {
  private let device: UInt64
  private let inode: UInt64
  private let size: Int64
  private let links: UInt64
  private var modified: Int64
  private var changed: Int64

  init(_ info: stat) {
    device = UInt64(info.st_dev)
    inode = UInt64(info.st_ino)
    size = Int64(info.st_size)
    links = UInt64(info.st_nlink)
    modified = Self.nanoseconds(info.st_mtim)
    changed = Self.nanoseconds(info.st_ctim)
  }

  /// The time of the last change of the content, in nanoseconds since 1970. Any program can set it.
  package var modification: Int64 { modified }

  /// Device and inode, which distinguish files that had the same name at different times.
  var identity: [UInt64] { [device, inode] }

  /// Returns true if the last change is so recent that another change could follow in the same tick. Git calls such a
  /// file racily clean.
  ///
  /// - Parameter now: A time that is not later than the moment when the stamp was taken, in nanoseconds since 1970,
  ///   from the clock that file systems use.
  package func isFresh(at now: Int64) -> Bool {
    let last = max(modified, changed)
    // Some file systems have times with a resolution of one or two seconds.
    let isCoarse = modified % Self.second == 0 && changed % Self.second == 0
    return last > now - (isCoarse ? Self.coarseTick : Self.tick)
  }

  /// Returns the stamp that a file system with a coarser clock would have set.
  package func rounded(to tick: Int64) -> FileStamp {
    var stamp = self
    stamp.modified -= modified % tick
    stamp.changed -= changed % tick
    return stamp
  }

  /// The size of a stored stamp in bytes.
  package static let storedSize = 6 * 8

  /// The stamp as bytes, which only this machine can read.
  package var stored: [UInt8] {
    let numbers = [
      device, inode, UInt64(bitPattern: size), links, UInt64(bitPattern: modified),
      UInt64(bitPattern: changed),
    ]
    return unsafe numbers.withUnsafeBytes { unsafe Array($0) }
  }

  /// Reads the form that ``stored`` writes.
  ///
  /// - Parameters:
  ///   - bytes: The bytes, with the stamp in them.
  ///   - offset: The offset of the stamp. At least ``storedSize`` bytes must follow.
  package init(storedIn bytes: [UInt8], at offset: Int) {
    func number(_ index: Int) -> UInt64 {
      unsafe bytes.withUnsafeBytes { buffer in
        unsafe buffer.loadUnaligned(fromByteOffset: offset + index * 8, as: UInt64.self)
      }
    }
    (device, inode, size, links) = (number(0), number(1), Int64(bitPattern: number(2)), number(3))
    (modified, changed) = (Int64(bitPattern: number(4)), Int64(bitPattern: number(5)))
  }

  private static let second: Int64 = 1_000_000_000
  /// Several times the longest tick of a Linux clock, 10 ms.
  private static let tick: Int64 = 50_000_000
  private static let coarseTick: Int64 = 2_050_000_000

  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* second &+ Int64(time.tv_nsec)
  }
}
