internal import Glibc

/// The programs that benchmarks run, found once.
struct Programs {
  /// The folder of this program, which also contains the command.
  let folder: String
  /// The folders that are searched for other programs.
  let searchPath: String

  /// Finds this program's folder.
  ///
  /// - Throws: `system` if the kernel does not report it.
  init() throws(BenchmarkError) {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0 else { throw .system(action: "read", path: "/proc/self/exe", errno: errno) }
    let path = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    folder = path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
    searchPath = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
  }

  /// The path of this program.
  var benchmark: String { "\(folder)/keytree-benchmark" }

  /// Returns the path of the command that is measured.
  ///
  /// - Throws: `commandMissing` when it is not built.
  func keytree() throws(BenchmarkError) -> String { try built("keytree") }

  /// Returns the path of a program of this package.
  ///
  /// - Throws: `commandMissing` when it is not built.
  func built(_ name: String) throws(BenchmarkError) -> String {
    let path = "\(folder)/\(name)"
    guard Files.isProgram(path) else { throw .commandMissing(path: path) }
    return path
  }

  /// Returns the path of another program.
  ///
  /// - Throws: `programMissing` when it is not in the search path.
  func find(_ name: String) throws(BenchmarkError) -> String {
    for folder in searchPath.split(separator: ":") where Files.isProgram("\(folder)/\(name)") {
      return "\(folder)/\(name)"
    }
    throw .programMissing(name: name)
  }
}
