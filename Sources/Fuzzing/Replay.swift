internal import Glibc

/// The choice of a target, and the program that runs it with files instead of generated inputs.
enum Replay {
  /// The target that the environment variable `KEYTREE_FUZZ_TARGET` names, for libFuzzer.
  static let chosen: FuzzTarget = {
    let name = unsafe getenv("KEYTREE_FUZZ_TARGET").map { unsafe String(cString: $0) } ?? ""
    return target(name)
  }()

  /// Runs a target with each file. Each name is printed first, so that the last one is that of the input that ended
  /// the process.
  ///
  /// - Parameter arguments: The name of the program, and then `--list` to print the names of all targets, or the name
  ///   of a target and paths of files.
  static func run(_ arguments: [String]) {
    if arguments.dropFirst().elementsEqual(["--list"]) {
      for target in FuzzTarget.all { print(target.name) }
      return
    }
    let target = target(arguments.dropFirst().first ?? "")
    for path in arguments.dropFirst(2) {
      print(path)
      // The output would otherwise be lost when the input ends the process.
      fflush(nil)
      target.run(content(of: path))
    }
  }

  private static func target(_ name: String) -> FuzzTarget {
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
      fail("no such target: `\(name)`; `keytree-fuzz --list` prints their names")
    }
    return target
  }

  private static func content(of path: String) -> [UInt8] {
    guard let file = unsafe fopen(path, "r") else { fail("cannot read \(path)") }
    defer { unsafe fclose(file) }
    var content: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe fread(&buffer, 1, buffer.count, file)
      if count == 0 { return content }
      content += buffer[..<count]
    }
  }

  private static func fail(_ message: String) -> Never {
    let text = Array("keytree-fuzz: \(message)\n".utf8)
    _ = unsafe write(STDERR_FILENO, text, text.count)
    exit(2)
  }
}
