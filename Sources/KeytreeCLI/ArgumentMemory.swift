internal import Arguments
internal import CSystem
internal import Glibc

/// The memory in which the system keeps the arguments of this process, and out of which `ps` shows them to everybody.
///
/// On Linux `CommandLine.unsafeArgv` is that memory and no copy of it, so that what is overwritten there is gone from
/// `/proc/PID/cmdline` as well.
@safe
struct ArgumentMemory: @unchecked Sendable {
  // Unchecked, because the pointers are unsafe in the eyes of the compiler. They stay valid as long as the process
  // lives, and nothing but `wipe` writes to them.
  private let words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

  /// How many words there are, the name of the program included.
  let count: Int

  /// The arguments of this process.
  static func ofProcess() -> ArgumentMemory {
    let words = unsafe CommandLine.unsafeArgv
    let given = Int(CommandLine.argc)
    return unsafe ArgumentMemory(words: words, count: (0..<given).first { unsafe words[$0] == nil } ?? given)
  }

  private init(words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, count: Int) {
    unsafe self.words = words
    self.count = count
  }

  /// Lends the bytes of a word, without the closing NUL, for the time of a call.
  func withBytes<R>(_ index: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    guard let start = unsafe words[index] else {
      return unsafe body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
    return unsafe body(UnsafeRawBufferPointer(start: start, count: strlen(start)))
  }

  /// A copy of a word that is no secret.
  ///
  /// Not `CommandLine.arguments`: that repairs what is not UTF-8, and a repaired name is another name.
  func word(_ index: Int) -> Word { unsafe withBytes(index) { unsafe Word($0) } }

  /// Overwrites a word from a position on.
  func wipe(_ index: Int, from offset: Int) {
    guard let start = unsafe words[index] else { return }
    let length = unsafe strlen(start)
    if offset < length { unsafe keytree_wipe(start + offset, length - offset) }
  }
}
