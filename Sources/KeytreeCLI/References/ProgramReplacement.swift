internal import CSystem
internal import FileSystem
internal import Glibc
internal import KeyringModel
internal import Secrets
internal import Subprocess
internal import Terminal

/// A program that replaces this process with `execve(2)`, so that it has its own exit status, signals and terminal.
struct ProgramReplacement {
  /// The arguments, including the name of the program.
  let words: [[UInt8]]
  /// The variables that contain no secrets of a store, as `NAME=VALUE`.
  var variables: [[UInt8]]
  /// The variables that contain secrets.
  private(set) var secretVariables: [(name: String, value: SecretSlice)] = []

  /// Creates a replacement.
  ///
  /// - Parameters:
  ///   - words: the arguments, including the name of the program; at least one.
  ///   - variables: the inherited variables, as `NAME=VALUE`.
  init(_ words: [[UInt8]], variables: [[UInt8]]) {
    self.words = words
    self.variables = variables
  }

  /// Sets a variable and replaces its previous value.
  mutating func set(_ name: String, to value: [UInt8]) {
    remove(name)
    variables.append(Array((name + "=").utf8) + value)
  }

  /// Sets a variable to a secret and replaces its previous value.
  mutating func set(_ name: String, to secret: SecretSlice) {
    remove(name)
    secretVariables.append((name, secret))
  }

  private mutating func remove(_ name: String) {
    variables.removeAll { $0.starts(with: (name + "=").utf8) }
    secretVariables.removeAll { $0.name == name }
  }

  /// The path of the program: its name if that contains a slash, else the file in the folders of its own `PATH`. Nil if
  /// the program is not found.
  var file: String? {
    guard let name = words.first.flatMap({ String(validating: $0, as: UTF8.self) }), !name.isEmpty else {
      return nil
    }
    if name.utf8.contains(UInt8(ascii: "/")) { return name }
    let path = variables.first { $0.starts(with: "PATH=".utf8) }.map { $0.dropFirst("PATH=".utf8.count) }
    let folders = path.flatMap { String(validating: $0, as: UTF8.self) } ?? "/usr/local/bin:/usr/bin:/bin"
    return ProgramSearch.path(of: name, in: folders)
  }

  /// Replaces this process.
  ///
  /// - Parameters:
  ///   - file: the path of the program.
  ///   - launch: the original state of this process, which is restored for the program.
  /// - Returns: the `errno` of `execve(2)`; the method returns only on failure.
  func run(_ file: String, as launch: LaunchState?) -> Int32 {
    launch?.restore()
    let arguments = unsafe pointers(words.count)
    for (index, word) in words.enumerated() { unsafe arguments[index] = Self.text(word) }
    let environment = unsafe pointers(variables.count + secretVariables.count)
    for (index, variable) in variables.enumerated() { unsafe environment[index] = Self.text(variable) }
    for (index, (name, secret)) in secretVariables.enumerated() {
      unsafe environment[variables.count + index] = Self.text(name, secret)
    }
    unsafe execve(file, arguments, environment)
    let problem = errno
    // Only an error message follows, but the copies of the secrets are wiped nevertheless.
    for index in secretVariables.indices {
      if let text = unsafe environment[variables.count + index] {
        let length = unsafe strlen(text)
        unsafe keytree_wipe(text, length)
      }
    }
    launch?.harden()
    return problem
  }

  private func pointers(_ count: Int) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> {
    let list = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: count + 1)
    unsafe list.initialize(repeating: nil, count: count + 1)
    return unsafe list
  }

  /// Returns the bytes with a NUL at the end. The caller has checked that they contain none.
  private static func text(_ bytes: [UInt8]) -> UnsafeMutablePointer<CChar> {
    let text = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
    for (index, byte) in bytes.enumerated() { unsafe text[index] = CChar(bitPattern: byte) }
    unsafe text[bytes.count] = 0
    return unsafe text
  }

  private static func text(_ name: String, _ secret: SecretSlice) -> UnsafeMutablePointer<CChar> {
    let start = Array((name + "=").utf8)
    let text = UnsafeMutablePointer<CChar>.allocate(capacity: start.count + secret.count + 1)
    for (index, byte) in start.enumerated() { unsafe text[index] = CChar(bitPattern: byte) }
    unsafe secret.withBytes { bytes in
      for index in bytes.indices { unsafe text[start.count + index] = CChar(bitPattern: bytes[index]) }
    }
    unsafe text[start.count + secret.count] = 0
    return unsafe text
  }
}
