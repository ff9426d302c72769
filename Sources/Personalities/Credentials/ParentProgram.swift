package import Credentials
internal import FileSystem
internal import Glibc
internal import Subprocess
package import Terminal

extension PromptCaller {
  /// Returns the program that started this process, or nil if it is not a program of OpenSSH or cannot be identified.
  ///
  /// The parent process is identified by its executable file, which a server cannot influence. The version is printed
  /// by this file itself, not by another `ssh` in `PATH`.
  package static func parent(_ environment: Environment) -> PromptCaller? {
    let parent = getppid()
    let file = "/proc/\(parent)/exe"
    guard let path = linkTarget(file), let name = path.split(separator: "/").last else { return nil }
    let caller = PromptCaller(name: String(name), arguments: { ProcessStatus.arguments(of: parent) }) {
      var run = ProgramRun(
        file, ["-V"], environment: ProcessEnvironment(entries: environment.entries, locale: "C"))
      run.folder = "/"
      run.timeout = .seconds(5)
      // If the program cannot be run, its version is unknown.
      guard let outcome = try? run.run(), outcome.succeeded else { return nil }
      return String(decoding: outcome.errors, as: UTF8.self)
    }
    // If the parent has ended, its process id may already belong to another process.
    return getppid() == parent ? caller : nil
  }

  private static func linkTarget(_ path: String) -> String? {
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink(path, &target, target.count)
    guard count > 0 else { return nil }
    return String(validating: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
