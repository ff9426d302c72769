import Foundation
import Glibc

/// The built program on its own pseudo-terminal, as a user would run it.
final class PseudoTerminal {
  /// An error that prevents the program from running, or missing output.
  enum Problem: Error {
    case noTerminal(errno: Int32)
    case notStarted(errno: Int32)
    case missing(String, instead: String)
  }

  private let master: Int32
  private let process: pid_t
  private var output: [UInt8] = []
  /// True if the program wrote nothing for so long that it was killed.
  private(set) var wasStuck = false

  /// The program that was built together with these tests, next to their bundle.
  static var program: String {
    // The link always resolves, because it is this process.
    let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("keytree").path
  }

  /// Starts the program as the leader of a session whose terminal is the new one.
  ///
  /// - Parameters:
  ///   - words: Its arguments.
  ///   - variables: Its environment.
  ///   - blocked: The signals that are blocked when it starts.
  ///   - name: The name under which it is called, if that is not its own.
  ///   - program: The path of the program.
  init(
    _ words: [String], variables: [String: String], blocked: [Int32] = [], name: String? = nil,
    program: String = PseudoTerminal.program
  ) throws {
    // These are the Linux implementations of posix_openpt(3), unlockpt(3) and ptsname(3), which Swift's Glibc module
    // lacks.
    master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var isLocked: Int32 = 0
    var number: UInt32 = 0
    let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
    guard master >= 0, unsafe ioctl(master, setLock, &isLocked) == 0,
      unsafe ioctl(master, getNumber, &number) == 0
    else { throw Problem.noTerminal(errno: errno) }
    // A terminal without a size cannot show the list of a picker; TIOCSWINSZ.
    var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
    guard unsafe ioctl(master, 0x5414, &size) == 0 else { throw Problem.noTerminal(errno: errno) }
    let slave = "/dev/pts/\(number)"
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    // The first terminal that a session leader opens becomes the controlling terminal of the session.
    unsafe posix_spawn_file_actions_addopen(&actions, 0, slave, O_RDWR, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, 0, 1)
    unsafe posix_spawn_file_actions_adddup2(&actions, 0, 2)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // The signal mask is that of a program started from a shell, not that of the test's thread.
    var mask = sigset_t()
    unsafe sigemptyset(&mask)
    for signal in blocked { unsafe sigaddset(&mask, signal) }
    unsafe posix_spawnattr_setsigmask(&attributes, &mask)
    unsafe sigfillset(&mask)
    unsafe posix_spawnattr_setsigdefault(&attributes, &mask)
    // The last flag is POSIX_SPAWN_SETSID, a GNU extension.
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | 0x80
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    let arguments = CStrings([name ?? program] + words)
    let entries = CStrings(variables.map { "\($0.key)=\($0.value)" })
    var process: pid_t = 0
    let problem = unsafe posix_spawn(
      &process, program, &actions, &attributes, arguments.pointers, entries.pointers)
    guard problem == 0 else { throw Problem.notStarted(errno: problem) }
    self.process = process
  }

  /// Waits until the program has written the text after the output that earlier calls waited for.
  func wait(for text: String) throws {
    let wanted = Array(text.utf8)
    var start = 0
    while true {
      if let found = Self.find(wanted, in: output, from: start) {
        output.removeFirst(found + wanted.count)
        return
      }
      start = max(0, output.count - wanted.count)
      guard read() else { throw Problem.missing(text, instead: String(decoding: output, as: UTF8.self)) }
    }
  }

  /// Waits until the program asks for something: until the last line of its output has no end and is a prompt.
  ///
  /// `gpg: ` and the like are not prompts, but the first part of a message that is written in two parts.
  ///
  /// - Returns: The output since the last wait, and whether the program asks; if not, it has ended.
  func waitForPrompt() -> (text: String, isPrompt: Bool) {
    var asks = false
    repeat {
      let line = String(decoding: output[((output.lastIndex(of: 10) ?? -1) + 1)...], as: UTF8.self)
      asks =
        [": ", "] ", "? "].contains { line.hasSuffix($0) } && line.wholeMatch(of: #/\r?[a-z-]+: /#) == nil
    } while !asks && read()
    defer { output = [] }
    return (String(decoding: output, as: UTF8.self), asks)
  }

  /// Returns true if the program writes something within a time in seconds.
  func writesMore(within seconds: Int32) -> Bool {
    var request = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&request, 1, seconds * 1000) > 0
  }

  /// Types text into the terminal.
  func type(_ text: String) {
    let bytes = Array(text.utf8)
    unsafe _ = Glibc.write(master, bytes, bytes.count)
  }

  /// True if the terminal shows what is typed, and passes it on line by line.
  var isInLineMode: Bool {
    var settings = termios()
    guard unsafe tcgetattr(master, &settings) == 0 else { return false }
    return settings.c_lflag & tcflag_t(ECHO | ICANON) == tcflag_t(ECHO | ICANON)
  }

  /// Sends the program a signal from outside with `kill(2)`.
  func end(by signal: Int32) { kill(process, signal) }

  /// Waits for the end of the program.
  ///
  /// - Returns: The output since the last wait, and the exit code, or the negated number of the signal that ended it.
  func finish() -> (text: String, code: Int32) {
    while read() {}
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    let code = status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
    return (String(decoding: output, as: UTF8.self), code)
  }

  deinit { close(master) }

  /// Reads the available output. Returns false at the end, which a terminal reports as an error, and after two minutes.
  private func read() -> Bool {
    var request = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&request, 1, 120_000) > 0 else {
      kill(process, SIGKILL)
      wasStuck = true
      return false
    }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe Glibc.read(master, &buffer, buffer.count)
    guard count > 0 else { return false }
    output += buffer[..<count]
    return true
  }

  private static func find(_ wanted: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
    guard bytes.count >= wanted.count else { return nil }
    return (start...(bytes.count - wanted.count)).first { bytes[$0...].starts(with: wanted) }
  }
}

/// An array of C strings.
@safe
private final class CStrings {
  let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private let count: Int

  init(_ texts: [String]) {
    count = texts.count
    unsafe pointers = .allocate(capacity: count + 1)
    for (index, text) in texts.enumerated() { unsafe (pointers + index).initialize(to: strdup(text)) }
    unsafe (pointers + count).initialize(to: nil)
  }

  deinit {
    for index in 0..<count { unsafe free(pointers[index]) }
    unsafe pointers.deallocate()
  }
}
