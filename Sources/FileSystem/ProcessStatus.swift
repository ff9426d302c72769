package import Glibc

/// The status of a process on this machine, from `/proc/PID/stat` (`proc(5)`).
package struct ProcessStatus {
  /// The first 15 bytes of the program's name.
  package let name: [UInt8]
  /// A letter, such as `Z` for a zombie.
  package let state: UInt8
  /// The id of the parent process.
  package let parent: pid_t

  /// Reads the status, or returns nil if there is no such process, or `/proc` hides it.
  package init?(of process: pid_t) {
    guard let file = unsafe fopen("/proc/\(process)/stat", "re") else { return nil }
    defer { unsafe fclose(file) }
    // The fields that are needed are the first ones.
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = unsafe fread(&bytes, 1, bytes.count, file)
    // `<number> (<name>) <state> <parent> ...`; the name may contain any characters.
    let text = bytes.prefix(count)
    guard let start = text.firstIndex(of: UInt8(ascii: "(")), let end = text.lastIndex(of: UInt8(ascii: ")")),
      start < end
    else { return nil }
    let fields = text[(end + 1)...].split(separator: UInt8(ascii: " "))
    guard fields.count > 1, let state = fields[0].first,
      let parent = pid_t(String(decoding: fields[1], as: UTF8.self))
    else { return nil }
    (name, self.state, self.parent) = (Array(text[(start + 1)..<end]), state, parent)
  }

  /// The longest arguments that are read, in bytes.
  private static let argumentLimit = 1 << 16

  /// Returns the arguments of a process of this user, without the name of the program, from `/proc/PID/cmdline`.
  ///
  /// - Parameter process: The process.
  /// - Returns: The arguments; none if the process has another user, if they cannot be read or exceed a limit.
  package static func arguments(of process: pid_t) -> [[UInt8]] {
    guard let file = unsafe fopen("/proc/\(process)/cmdline", "re") else { return [] }
    defer { unsafe fclose(file) }
    var facts = stat()
    guard unsafe fstat(fileno(file), &facts) == 0, facts.st_uid == geteuid() else { return [] }
    var bytes = [UInt8](repeating: 0, count: argumentLimit)
    let count = unsafe fread(&bytes, 1, bytes.count, file)
    // Each argument ends with NUL.
    guard count < argumentLimit, count > 0, bytes[count - 1] == 0 else { return [] }
    return bytes[..<(count - 1)].split(separator: 0, omittingEmptySubsequences: false).dropFirst()
      .map { Array($0) }
  }
}
