package import Arguments
internal import CSystem
internal import Glibc

/// The memory in which the system keeps the arguments of this process. `ps` shows its contents to all users.
///
/// On Linux `CommandLine.unsafeArgv` is that memory itself and not a copy. Overwritten bytes therefore disappear from
/// `/proc/PID/cmdline` as well.
@safe
package struct ArgumentMemory: @unchecked Sendable {
  // Unchecked, because the compiler considers the pointers unsafe. They stay valid as long as the process lives, and
  // only `wipe` writes to them.
  private let words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

  /// The number of arguments, including the name of the program.
  package let count: Int

  /// Returns the arguments of this process.
  package static func ofProcess() -> ArgumentMemory {
    let words = unsafe CommandLine.unsafeArgv
    let given = Int(CommandLine.argc)
    return unsafe ArgumentMemory(words: words, count: (0..<given).first { unsafe words[$0] == nil } ?? given)
  }

  private init(words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, count: Int) {
    unsafe self.words = words
    self.count = count
  }

  /// Calls `body` with the bytes of an argument, without the closing NUL. The bytes are valid during the call only.
  package func withBytes<R>(_ index: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    guard let start = unsafe words[index] else {
      return unsafe body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
    return unsafe body(UnsafeRawBufferPointer(start: start, count: strlen(start)))
  }

  /// Returns a copy of an argument that is not a secret.
  ///
  /// Does not use `CommandLine.arguments`, which repairs invalid UTF-8: a repaired name is a different name.
  package func word(_ index: Int) -> Word { unsafe withBytes(index) { unsafe Word($0) } }

  /// Overwrites an argument, beginning at an offset.
  package func wipe(_ index: Int, from offset: Int) {
    guard let start = unsafe words[index] else { return }
    let length = unsafe strlen(start)
    if offset < length { unsafe keytree_wipe(start + offset, length - offset) }
  }
}
